"""What each thing that preflight tries means when it fails, and what to do: texts of `rollout explain`."""

PREFLIGHT: dict[str, str] = {
    "plan": "The host no longer needs what was planned for it; make a fresh plan.",
    "host": "The host could not be reached, or another run holds it; the message says which.",
    "lists": "Package lists were fetched into a private folder of the run, and apt complained. Mend the source.",
    "dpkg": "dpkg --audit names packages that are not whole. Mend them first.",
    "download": "The target packages could not be downloaded. The server was not stopped.",
    "simulate": "apt would do something else than the plan: remove a package, or touch one that is not planned.",
    "new_binary": "The new server does not accept this host's own option files (an option that it does not know is "
    "exit status 7). It would not have started. Mend the option, then plan again.",
    "library_download": "The package of the jemalloc library could not be downloaded.",
    "preload": "The library was preloaded as the service would do it, in its sandbox, and is not in the "
    "maps of the process, or the loader complained. The reason stands in the message.",
    "capabilities": "The server binary has file capabilities: secure execution drops LD_PRELOAD without a word.",
    "backup_tool": "mariadb-backup of exactly the running version cannot be had. Install it, set "
    "rollout_backup_method: mariadb-dump, or give a reason with --skip-backup.",
    "xa": "Transactions stand in XA PREPARE. Commit them or roll them back before a restart.",
    "transactions": "A transaction is open for long; the stop rolls it back, which can take as long again.",
    "other_servers": "Another server runs on this host outside the unit, and the packages' own scripts would stop it.",
    "space": "There is not enough free room for the backup, the packages and their stash.",
}
