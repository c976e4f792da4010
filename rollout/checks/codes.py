"""What each check and each named cause of a failure means, and what to do: the texts of `rollout explain`."""

CHECKS: dict[str, str] = {
    "reachable": (
        "The host was reached over its connection and answered the probe. When it fails, nothing else is known of the "
        "host. Try the connection by hand with the same user, port and key; a host key that is unknown or changed is "
        "refused on purpose."
    ),
    "version_running": (
        "The server that runs, asked with SELECT VERSION(), is the wanted release. When the file on disk already is "
        "and the running server is not, the packages were upgraded without a restart: restart the unit."
    ),
    "version_on_disk": (
        "The server binary on disk (mariadbd --no-defaults --version) is the release that runs. A difference means "
        "that the next restart, planned or not, brings another version."
    ),
    "version_client": (
        "The installed client is of the same release as the server on disk. A difference points to a package "
        "transaction that left a sibling behind."
    ),
    "fix_present": (
        "The running release carries the InnoDB LRU fix of its series, by the table of fix releases (shipped, and "
        "extended by rollout_fix_releases). It warns where the series has no such release, where the release is not "
        "published or is a rehearsal stand-in, and for builds whose number does not tell (Enterprise)."
    ),
    "allocator_reported": (
        "The server itself reports jemalloc in @@version_malloc_library. This is the first of two proofs; the value "
        "is set at build time on some builds and cannot be believed alone."
    ),
    "allocator_mapped": (
        "The exact library is in the memory map of the running server (/proc/MainPID/maps). This is the second proof. "
        "LD_PRELOAD in the process's environment is no proof: the loader may have ignored it."
    ),
    "drop_in_content": (
        "The drop-in that rollout wrote is on the host, byte for byte as rendered. An equivalent drop-in made by hand "
        "is accepted and left alone."
    ),
    "drop_in_wins": (
        "Of all places that set LD_PRELOAD for the unit, the last one, which systemd obeys, names the wanted library."
    ),
    "unit_active": "The server's unit is active (running), or is stopped where it was stopped before.",
    "unit_restarts": (
        "systemd has not restarted the unit by itself since it was started (NRestarts is 0). A number above zero "
        "means crashes: read the unit's journal and the error log."
    ),
    "daemon_reload": (
        "systemd has read the unit's files as they are on disk. A pending daemon-reload means that the next restart "
        "brings settings nobody has seen in effect: run systemctl daemon-reload and look at the unit again."
    ),
    "one_invocation": (
        "Since the run began the unit was started exactly as often as the plan says: once for both changes."
    ),
    "deleted_mappings": (
        "The running server maps no program file or library that was replaced on disk since it started. One that was "
        "replaced is used until the next restart."
    ),
    "packages_version": (
        "All installed MariaDB packages are of one version, and of the planned one where a plan fixed it. Packages "
        "left behind cause plugins that do not load and a server that does not start."
    ),
    "packages_configured": (
        "No package is half installed or half configured. Repair it with dpkg --configure -a (or rpm's equivalent) "
        "and read why its script failed before anything else is changed."
    ),
    "datadir_identity": (
        "The server uses the same data directory as before: same path, device and inode of it, of ibdata1 and of "
        "mysql/, and no data directory was moved aside."
    ),
    "schemas_tables": "The same schemas and tables are there as before the change.",
    "replication": (
        "Each replication connection that ran before runs now, with the same settings and without an error. Without "
        "facts from before, each configured connection runs without an error."
    ),
    "wsrep": "A Galera node is Synced, in the primary component, and its cluster is as large as before.",
    "old_blocks": (
        "innodb_old_blocks_time and innodb_old_blocks_pct have values that make sense with the LRU fix. A very long "
        "innodb_old_blocks_time was a workaround for unpatched servers; with the fix it keeps read pages from ever "
        "becoming young. Take it back to 1000."
    ),
    "lru_monitoring": (
        "With the fix FREE_PAGE_CLOCK stays 0 and pages made young are counted by another rule. Dashboards, alerts "
        "and queries that use them (Innodb_buffer_pool_pages_made_young, INNODB_BUFFER_PAGE_LRU, "
        "INNODB_BUFFER_POOL_STATS) change their meaning. The check looks in the files of rollout_monitoring_paths and "
        "in statement digests; where neither can be looked at, the warning is general."
    ),
    "error_log": "Since the server's start its error log has no line marked [ERROR].",
    "backup": "The backup of this run is on the host, complete and prepared, and not empty.",
    "unattended_upgrades": (
        "Unattended upgrades do not take MariaDB packages on their own. If they do, a host may be upgraded and "
        "restarted at any time between plan and apply, or after it, outside every wave."
    ),
}

CAUSES: dict[str, str] = {
    "not_known": (
        "What the check needs could not be found out on the host: a command is missing, root rights were refused, or "
        "the database login failed. No check passes on an unknown value. `rollout facts` shows what is unknown."
    ),
    "restart_pending": (
        "The wanted release is installed, but the server that runs was started before. Restart the unit in a quiet "
        "hour, or run `rollout apply`, which does so within its safeguards."
    ),
    "upgrade_missing": "The server runs an older release and so is the file on disk: the packages were not upgraded.",
    "preload_not_asked": (
        "No LD_PRELOAD of the library reaches the unit: the drop-in is missing, or was made for another unit, or "
        "somebody asks for another allocator. `rollout plan` says whether that one can be replaced."
    ),
    "preload_overridden": (
        "Another drop-in sets LD_PRELOAD after ours, or clears the environment; systemd obeys the last one. "
        "`systemctl cat` on the unit shows them in order."
    ),
    "preload_path_missing": (
        "The path in LD_PRELOAD does not exist on the host. The loader prints one line, ignores it and starts the "
        "server with its usual allocator."
    ),
    "preload_not_loadable": (
        "The library is there and was asked for, but the loader could not use it: it is no ELF file, of another "
        "architecture, or not readable inside the unit's sandbox. The unit's journal has a line of ld.so."
    ),
    "preload_secure_execution": (
        "The server's binary has file capabilities (getcap shows them) or is set-uid. The loader then runs in secure "
        "execution mode and drops LD_PRELOAD without any message. Remove the capability with setcap -r and use "
        "AmbientCapabilities= in the unit."
    ),
    "preload_page_size": (
        "The machine's memory pages are larger than those jemalloc was built for: it ends the process at its start. "
        "Take a jemalloc package built for this page size, or leave the allocator as it is."
    ),
    "preload_not_restarted": (
        "The unit asks for the library now, but the server that runs was started before. Restart the unit."
    ),
    "allocator_compiled_in": (
        "The server was built with an allocator of its own, or is linked with another one (tcmalloc); no preload asks "
        "for it. version_malloc_library shows what was set at build time and does not follow LD_PRELOAD."
    ),
    "library_replaced": (
        "The library package was upgraded while the server ran: the server still uses the removed file. A restart "
        "takes the new one."
    ),
    "drop_in_edited": "The drop-in bears rollout's marker, but its content is not what rollout wrote.",
    "version_option": (
        "An option file sets version=: SELECT VERSION() and mariadbd --version then say what it says and not what "
        "runs. `mariadbd --no-defaults --version` and the package tell the truth. Take the option out."
    ),
    "unit_failed": (
        "systemd holds the unit as failed. `systemctl status` and `journalctl --unit` say why; the error log has the "
        "server's own words."
    ),
    "datadir_moved": (
        "A package script moved the data directory aside (/var/lib/mysql-SERIES) and made an empty one, as Debian's "
        "does on a downgrade across series. Nothing is lost: stop the server, and move the directories back."
    ),
    "old_blocks_workaround": (
        "innodb_old_blocks_time is so long that it must be a workaround for servers without the fix. With the fix it "
        "keeps read pages from becoming young (it is capped at 65534 s). Take it back to 1000."
    ),
    "drop_in_missing": "The drop-in is not on the host, or systemd has not read it: it was removed, or never written.",
    "drop_in_foreign": "A file of that name is there, but it does not bear rollout's marker.",
}

CODES: dict[str, str] = CHECKS | CAUSES
