"""What each blocker and warning about a host's changes means, and what to do: texts of `rollout explain`."""

BLOCKERS: dict[str, str] = {
    "privilege_missing": "The probe did not run as root, so it could not see all that a change must know. Set "
    "ansible_become (and the sudo lines of docs/connections.md), or log in as root.",
    "no_systemd": "Process 1 of the host is not systemd (a container, as a rule). Without systemd there is no drop-in "
    "and no transient unit to change things in; the host is left alone.",
    "no_server": "No MariaDB server was found: none answers, and no server binary is on disk. Take the host out of the "
    "group, or name its unit with rollout_unit.",
    "not_mariadb": "The server is MySQL or Percona Server. Neither is touched by this tool.",
    "unit_unknown": "The systemd unit of the server could not be told. Name it with rollout_unit.",
    "version_unknown": "The version of the server binary on disk could not be read, so there is nothing to compare a "
    "target with. Run mariadbd --no-defaults --version on the host.",
    "versions_disagree": "The binary on disk says another version than its package. Somebody copied a binary over it, "
    "or an upgrade stopped half-way; install the package again before anything else.",
    "server_package_unknown": "Which package owns the running server could not be found out.",
    "server_not_packaged": "No package owns the running binary (a tarball, a build of one's own). It is reported and "
    "not touched; jemalloc alone can be had with the playbook jemalloc.",
    "manager_unsupported": "The host's package system is none of apt, dnf and zypper. "
    "Its packages are reported and not changed.",
    "packages_broken": "dpkg --audit names packages in a broken state, or rpm has one of them twice. Mend them first "
    "(dpkg --configure -a, apt-get -f install; dnf remove --duplicates): a change on top of that could end anywhere.",
    "packages_unknown": "What the package system knows could not be read; the message has the reason.",
    "refresh_failed": "Package lists could not be fetched completely: a key, an origin that changed, a clock that is "
    "behind, a mirror that is down. apt and dnf end with 0 on old lists too, so their messages decide. Mend the "
    "source; nothing is overridden here.",
    "origin_unknown": "The installed version is in no repository any more, so nobody can tell where it came from and "
    "where its successor should. Say it (rollout_packages_origin: Debian/bookworm, as apt-cache policy names o= and "
    "n=), put its repository back, or upgrade by hand.",
    "sibling_missing": "A package that belongs to the server cannot be had at the target version. Upgrading around it "
    "can keep the new server from starting (plugins must fit). Wait until the repository has it.",
    "held": "A package that would move is on hold. A hold is somebody's order: lift it with apt-mark unhold (dnf "
    "versionlock delete, zypper removelock), or leave the host out.",
    "server_beside": "Another server runs on this host, an instance of the same unit most often. Packages are shared: "
    "the upgrade would restart it too, or leave it on files that are gone. Stop the others first, or upgrade such a "
    "host by hand; jemalloc alone goes to one instance with the playbook jemalloc.",
    "excluded": "An exclude in dnf's configuration hides a package that would move; dnf would say that there is "
    "nothing to do. An exclude is somebody's order: lift it, or leave the host out.",
    "module_filtering": "A module stream of the database is enabled on a host whose server is not of that module. dnf "
    "then hides packages of other repositories. Disable the stream (dnf module reset), or leave the host out; this "
    "tool switches none.",
    "allocator_unknown": "What the server says about its allocator could not be read, for want of a login most often. "
    "Set rollout_defaults_file, or allow root to log in over the unit's socket.",
    "other_allocator": "The server runs with an allocator that somebody chose (tcmalloc, a jemalloc that is compiled "
    "in). It is respected. One that is preloaded by a drop-in, the unit file or the manager gives way to ours with "
    "`rollout plan --replace-allocator` or rollout_replace_allocator: true; one that is compiled in or linked never.",
    "capabilities_unknown": "Whether the server binary has file capabilities could not be read (getcap).",
    "secure_execution": "The server binary has file capabilities. The kernel then runs it in secure execution, and the "
    "loader drops LD_PRELOAD without a word. Remove them with setcap -r, or leave the allocator.",
    "preload_unknown": "The places that may set LD_PRELOAD could not all be read: there may be a foreign one.",
    "foreign_preload": "Something that is not ours sets LD_PRELOAD: an override.conf, an EnvironmentFile, the manager, "
    "/etc/ld.so.preload. The last assignment wins, so both would fight. Take it out, or keep it and leave the host. "
    "`rollout plan --replace-allocator` (or rollout_replace_allocator: true) overrules one that asks for an allocator "
    "alone; the message says where that cannot be: an EnvironmentFile, /etc/ld.so.preload, a drop-in that sorts after "
    "ours, another library beside the allocator.",
    "drop_in_conflict": "Our drop-in cannot stand where rollout_drop_in asks for it: the unit is no instance of a "
    "template, a file of that name is not ours, an earlier run put one of ours at the other place (rollout rollback "
    "--host takes it back), or the one that all instances share has another content than rollout_malloc_conf and "
    "rollout_environment ask for. That one is never rewritten; take it back on all instances, the last changed first, "
    "then plan again.",
    "library_broken": "The package of libjemalloc is installed, but its library is missing, is no ELF file, or is made "
    "for another machine than the server. Install the package again, then plan again.",
    "library_unavailable": "libjemalloc is neither installed nor in an enabled repository. No repository is added; "
    "enable the one that has it.",
    "unreachable": "The way to the host is broken: refused, timed out, a host key, a login. Nothing is known of it.",
    "probe_failed": "The probe of the host failed for another reason than its connection; the message says which.",
}

WARNINGS: dict[str, str] = {
    "unit_file_edited": "The unit file of the package was edited in place. The upgrade puts the package's own there, "
    "and what was added (LD_PRELOAD, limits) is gone at the restart. Move it to a drop-in first: systemctl edit UNIT.",
    "enterprise_unknown": "An Enterprise build: whether it carries the LRU fix cannot be told from its number. Its "
    "packages are left alone.",
    "no_fix_in_series": "No release of the host's series carries the fix. This tool makes no major upgrade; jemalloc "
    "can be had all the same.",
    "series_unknown": "The host's series is younger than the table of fix releases; extend it with "
    "rollout_fix_releases.",
    "fix_not_published": "The release with the fix is not yet in the repository that the server came from. Plan again "
    "when it is; the jemalloc part can go ahead.",
    "other_origin_newer": "Another origin than the installed server's has the release. It is not taken: packages of "
    "two origins do not mix.",
    "rehearsal": "The target release is declared not to carry the fix (carries_lru_fix: false). The road is real, no "
    "gain in throughput is promised.",
    "allocator_replaced": "An allocator that others preload gives way to ours, as --replace-allocator or "
    "rollout_replace_allocator asks. Their file stays as it is: our drop-in is the last of the unit and has the last "
    "word. A rollback removes ours, and theirs is in force again after its restart.",
    "allocator_kept": "jemalloc is in use already, and this tool did not make it so: an override.conf, "
    "/etc/ld.so.preload, a build that is linked with it. It is what is wanted, so it stays as it is, theirs to keep.",
    "drop_in_shared": "With rollout_drop_in: template one drop-in serves all instances of the server's template. Only "
    "the instance of this row is restarted and proved; every other one, stopped and future ones too, gets jemalloc at "
    "its next start. Where an instance's own files set LD_PRELOAD, theirs wins. To choose one by one, leave "
    "rollout_drop_in at unit.",
    "huge_pages_always": "Transparent huge pages are `always`: the memory that jemalloc takes can stay larger than its "
    "own figures. Consider `madvise`.",
}
