"""What each thing that preflight tries means when it fails, and what to do: texts of `rollout explain`."""

STATUSES: dict[str, str] = {
    "change": "Changes are planned for the host.",
    "changed": "The planned changes were made, and proved on fresh facts.",
    "ok": "Nothing was to be done.",
    "failed": "The host could not be changed, or its way back is not complete; the error says what is where.",
    "recovered": "The change did not hold and was taken back by itself; the host is as it was.",
    "rolled_back": "What a run had done was taken back; the host is as it was.",
    "stale": "The host no longer needs what was planned. It was not touched; make a fresh plan.",
    "blocked": "Something stands in the way: a blocker of the plan, or another run that holds the host.",
    "skipped": "The policy left the host alone, because of what happened to others.",
    "pending": "The run ended before it came to this host.",
    "unknown": "The run was cut off, or lost the host, after it had begun to work on it. What had begun goes on by "
    "itself on the host. rollout apply --resume finds out how far it came and goes on; rollout rollback takes it back.",
}

PREFLIGHT: dict[str, str] = {
    "plan": "The host no longer needs what was planned for it; make a fresh plan.",
    "host": "The host could not be reached, or another run holds it; the message says which.",
    "lock": "Another program holds dpkg's or libzypp's lock, named in the message, and did for a minute. "
    "Wait for it, or end it.",
    "lists": "Package lists were fetched into a private folder of the run, and apt, dnf or zypper complained. Mend "
    "the source.",
    "dpkg": "dpkg --audit names packages that are not whole. Mend them first.",
    "rpm": "rpm has a package twice: a transaction was broken off. Mend that first (dnf remove --duplicates).",
    "option_file": "An option file of the packages is missing, and their own scripts would fail without it "
    "(update-alternatives: alternative path doesn't exist). Put it back: apt-get install --reinstall "
    "-o Dpkg::Options::=--force-confmiss mariadb-common.",
    "download": "The target packages could not be downloaded. The server was not stopped.",
    "simulate": "apt, dnf or zypper would do something else than the plan: remove a package, or touch one that is "
    "not planned.",
    "new_binary": "The new server does not accept this host's own option files (an option that it does not know is "
    "exit status 7). It would not have started. Mend the option, then plan again.",
    "installed_binary": "The installed server does not accept this host's own option files any more: they were edited "
    "since it started, so the next restart, whoever does it, would leave the server down. Mend the option first.",
    "library_download": "The package of the jemalloc library could not be downloaded.",
    "preload": "The library was preloaded as the service would do it, in its sandbox, and is not in the "
    "maps of the process, or the loader complained. The reason stands in the message.",
    "capabilities": "The server binary has file capabilities: secure execution drops LD_PRELOAD without a word.",
    "backup_tool": "mariadb-backup of exactly the running version cannot be had. Install it, set "
    "rollout_backup_method: mariadb-dump, or give a reason with --skip-backup.",
    "xa": "Transactions stand in XA PREPARE. Commit them or roll them back before a restart.",
    "transactions": "A transaction is open for long; the stop rolls it back, which can take as long again.",
    "other_servers": "Another server runs on this host outside the unit, and the packages' own scripts would stop it.",
    "variables": "These variables are other ones after the restart: they were set at run time only, the option files "
    "were changed since the start, or the new release has another default. Write what is to stay into the files.",
    "window": "The maintenance window of the host (rollout_window) is closed: apply would not begin it now.",
    "hooks": "The program of a hook is not where it would be run, the controller or the host. Mend its command, or run "
    "without hooks: --skip-hooks REASON.",
    "space": "There is not enough free room for the backup, the packages and their stash.",
}
