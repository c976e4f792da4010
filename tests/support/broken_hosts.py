"""How to break a host so that each check fails for real, and how to mend it again."""

from dataclasses import dataclass

LIBRARY = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
FOLDER = "/etc/systemd/system/mariadb.service.d"
OURS = f"{FOLDER}/zz-rollout-allocator.conf"
CONFIG = "/etc/mysql/mariadb.conf.d/99-broken.cnf"
BACKUP = "/var/backups/rollout/broken"
RESTART = "systemctl daemon-reload; systemctl restart mariadb"


@dataclass(frozen=True)
class Broken:
    """One way to break a host: the check that must see it, its verdict, and the cause that it must name.

    `without_before` leaves out the facts from before, so that the check judges the host by itself.
    """

    check: str
    status: str
    cause: str
    breaks: str
    mends: str
    without_before: bool = False

    @property
    def name(self) -> str:
        """How the case is called."""
        return f"{self.check}-{self.cause or self.status}"


def preload(path: str) -> str:
    """Return shell text that makes a drop-in which is read after ours and preloads another library."""
    return f"printf '[Service]\\nEnvironment=\"LD_PRELOAD={path}\"\\n' >{FOLDER}/zzz-other.conf"


# A host on which all is well, save that its fix release is a rehearsal, is broken in each of these ways in turn.
BROKEN = (
    Broken(
        "version_client",
        "fail",
        "",
        "cd /tmp; apt-get download -q mariadb-client-core={old}; dpkg --force-all -i mariadb-client-core_*.deb",
        "apt-get install -q -y mariadb-client-core={new}",
    ),
    Broken(
        "allocator_mapped",
        "fail",
        "preload_secure_execution",
        "setcap cap_dac_override=ep /usr/sbin/mariadbd; systemctl restart mariadb",
        "setcap -r /usr/sbin/mariadbd; systemctl restart mariadb",
    ),
    Broken(
        "allocator_reported",
        "fail",
        "preload_path_missing",
        f"mv {LIBRARY} /root/kept; systemctl restart mariadb",
        f"mv /root/kept {LIBRARY}; systemctl restart mariadb",
    ),
    Broken(
        "allocator_mapped",
        "fail",
        "preload_not_loadable",
        f"mv {LIBRARY} /root/kept; echo no library >{LIBRARY}; systemctl restart mariadb",
        f"mv /root/kept {LIBRARY}; systemctl restart mariadb",
    ),
    Broken(
        "allocator_mapped",
        "fail",
        "preload_overridden",
        f"{preload('/usr/lib/x86_64-linux-gnu/libz.so.1')}; {RESTART}",
        f"rm {FOLDER}/zzz-other.conf; {RESTART}",
    ),
    Broken(
        "drop_in_wins",
        "fail",
        "preload_overridden",
        f"{preload('/usr/lib/x86_64-linux-gnu/libz.so.1')}; systemctl daemon-reload",
        f"rm {FOLDER}/zzz-other.conf; systemctl daemon-reload",
    ),
    Broken(
        "allocator_mapped",
        "fail",
        "preload_not_restarted",
        f"mv {OURS} /root/kept; {RESTART}; mv /root/kept {OURS}; systemctl daemon-reload",
        "systemctl restart mariadb",
    ),
    Broken(
        "allocator_mapped",
        "fail",
        "preload_not_asked",
        f"mv {OURS} /root/kept; {RESTART}",
        f"mv /root/kept {OURS}; {RESTART}",
    ),
    Broken(
        "drop_in_content",
        "fail",
        "drop_in_edited",
        f"cp {OURS} /root/kept; echo Nice=5 >>{OURS}; systemctl daemon-reload",
        f"cp /root/kept {OURS}; systemctl daemon-reload",
    ),
    Broken(
        "drop_in_content",
        "fail",
        "drop_in_foreign",
        f"cp {OURS} /root/kept; sed -i /^#/d {OURS}; systemctl daemon-reload",
        f"cp /root/kept {OURS}; systemctl daemon-reload",
    ),
    Broken("daemon_reload", "fail", "", f"touch {OURS}", "systemctl daemon-reload"),
    Broken("unit_active", "fail", "", "systemctl stop mariadb.socket mariadb", "systemctl start mariadb"),
    Broken(
        "unit_active",
        "fail",
        "unit_failed",
        f"printf '[mariadbd]\\nno-such-option=1\\n' >{CONFIG}; systemctl restart mariadb || :",
        f"rm {CONFIG}; systemctl reset-failed mariadb; systemctl start mariadb",
    ),
    Broken(
        "unit_restarts",
        "fail",
        "",
        "systemctl kill --kill-whom=main --signal=SEGV mariadb; for i in $(seq 60); do sleep 0.5; "
        "[ $(systemctl show -P NRestarts mariadb) -gt 0 ] && systemctl is-active -q mariadb && break; done",
        "systemctl restart mariadb",
    ),
    Broken("one_invocation", "fail", "", "systemctl restart mariadb; systemctl restart mariadb", ":"),
    Broken(
        "deleted_mappings",
        "fail",
        "library_replaced",
        f"cp -p {LIBRARY} {LIBRARY}.new; mv {LIBRARY}.new {LIBRARY}",
        "systemctl restart mariadb",
    ),
    Broken(
        "packages_configured",
        "fail",
        "",
        "cd /tmp; apt-get download -q libjemalloc2; dpkg --unpack libjemalloc2_*.deb",
        "dpkg --configure -a; systemctl restart mariadb",
    ),
    Broken(
        "unattended_upgrades",
        "warn",
        "",
        "mkdir -p /tmp/u/DEBIAN; printf 'Package: unattended-upgrades\\nVersion: 1\\nArchitecture: all\\n"
        "Maintainer: x\\nDescription: x\\n' >/tmp/u/DEBIAN/control; dpkg-deb -b /tmp/u /tmp/u.deb; dpkg -i /tmp/u.deb; "
        "echo 'APT::Periodic::Unattended-Upgrade \"1\";' >/etc/apt/apt.conf.d/20auto-upgrades",
        "rm /etc/apt/apt.conf.d/20auto-upgrades; dpkg -P unattended-upgrades",
    ),
    Broken(
        "datadir_identity",
        "fail",
        "",
        "systemctl stop mariadb.socket mariadb; cd /var/lib/mysql; cp -p ibdata1 copy; mv copy ibdata1; "
        "systemctl start mariadb",
        ":",
    ),
    Broken("datadir_identity", "fail", "datadir_moved", "mkdir /var/lib/mysql-10.6", "rmdir /var/lib/mysql-10.6"),
    Broken(
        "schemas_tables",
        "fail",
        "",
        "mariadb -e 'RENAME TABLE broken.t TO test_kept.t'",
        "mariadb -e 'RENAME TABLE test_kept.t TO broken.t'",
    ),
    Broken(
        "replication",
        "fail",
        "",
        "mariadb -e \"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=1, MASTER_USER='x'\"",
        "mariadb -e 'RESET SLAVE ALL'",
        without_before=True,
    ),
    Broken(
        "wsrep",
        "fail",
        "",
        "printf '[mariadbd]\\nwsrep_on=ON\\nwsrep_provider=/usr/lib/galera/libgalera_smm.so\\nbinlog_format=ROW\\n"
        "wsrep_cluster_address=gcomm://\\n' >/etc/mysql/mariadb.conf.d/99-galera.cnf; systemctl restart mariadb; "
        "mariadb -e 'SET GLOBAL wsrep_desync=ON'",
        "rm /etc/mysql/mariadb.conf.d/99-galera.cnf; systemctl restart mariadb",
    ),
    Broken(
        "old_blocks",
        "warn",
        "old_blocks_workaround",
        "mariadb -e 'SET GLOBAL innodb_old_blocks_time=2147483647'",
        "mariadb -e 'SET GLOBAL innodb_old_blocks_time=1000'",
    ),
    Broken(
        "lru_monitoring",
        "warn",
        "",
        "mkdir -p /etc/zabbix; echo 'Innodb_buffer_pool_pages_made_young' >/etc/zabbix/mysql.conf",
        "rm -r /etc/zabbix",
    ),
    Broken(
        "error_log",
        "fail",
        "",
        f"printf '[mariadbd]\\nplugin-load-add=no_such_plugin\\n' >{CONFIG}; systemctl restart mariadb",
        f"rm {CONFIG}; systemctl restart mariadb",
    ),
    Broken(
        "backup",
        "fail",
        "",
        f"mv {BACKUP} {BACKUP}.kept; mkdir -p {BACKUP}; mariadb-backup --backup --target-dir={BACKUP} 2>/dev/null",
        f"rm -r {BACKUP}; mv {BACKUP}.kept {BACKUP}",
    ),
    Broken("reachable", "fail", "", "systemctl stop ssh.socket ssh", "systemctl start ssh"),
)

# These are seen on the way from a fresh host to one on which all is well.
FRESH = {
    "version_running": "upgrade_missing",
    "fix_present": "upgrade_missing",
    "packages_version": "",
    "drop_in_content": "drop_in_missing",
    "drop_in_wins": "preload_not_asked",
}
UPGRADED_WITHOUT_RESTART = {
    "version_running": "restart_pending",
    "version_on_disk": "restart_pending",
    "deleted_mappings": "restart_pending",
}
