"""What the codes of this room mean and what to do, for `rollout explain`."""

CODES: dict[str, str] = {
    "within_budget": "The run goes on: fewer hosts failed than the failure budget allows. Nothing is to be done.",
    "budget_used_up": (
        "Exactly as many hosts failed as may fail. The run goes on, one host at a time, and the next failure ends it. "
        "Look at the failed hosts now: rollout status."
    ),
    "nothing_left": "No host of the run is left to change. Hosts that were held back are named with the reason.",
    "run_aborted": (
        "Abort was asked for. Hosts that ran were finished, no other was started. "
        "Go on with rollout apply --resume, or take the changed hosts back with rollout rollback."
    ),
    "host_blocked": (
        "A host of the run is blocked and the run stops before it touches another. Remove the reason that the plan "
        "names, leave the host out with --limit, or pass over blocked hosts with --skip-blocked (a blocked replica "
        "then keeps its primary back too)."
    ),
    "canary_failed": (
        "A host of the canary wave failed, could not be reached, or did not pass its health gate. The canary stops the "
        "run whatever the failure budget is. Find the cause on that host before going on with rollout apply --resume."
    ),
    "budget_exceeded": (
        "More hosts failed than max_failures or max_fail_percentage allow; the tighter limit holds, for the whole run "
        "and not for each wave. Failed, recovered, rolled back, unreachable, stale and unknown hosts count, and "
        "changed hosts whose health gate failed. Find the cause, then rollout apply --resume, or rollout rollback."
    ),
    "wave_failed_whole": (
        "Every host that was tried in a wave of two or more failed. That speaks against the change rather than against "
        "the hosts, so the run stops whatever the failure budget is. whole_wave_stops: false leaves it to the budget."
    ),
    "pause_between": "A wave is over and the policy asks a person before the next one. Answer yes to go on.",
    "window_closed": (
        "Outside its maintenance window (rollout_window) a host is not begun; one that was begun is finished. The "
        "hosts that are left are pending: go on with rollout apply --resume when the window is open."
    ),
    "switchover_needed": (
        "The next host is a primary and the policy wants it switched first. Its replicas are changed. Make one of them "
        "the primary, then make a fresh plan and apply it: the old primary is then found as a replica."
    ),
    "place_unknown": (
        "The host could not be reached, or did not say whom it replicates from and which cluster it is of. An order "
        "that keeps replicas before their primary cannot be promised for it. Give the login the right to read the "
        "replication status (REPLICA MONITOR, BINLOG MONITOR), or leave the host out with --limit."
    ),
    "place_unknown_stopped": (
        "The server is stopped, so nobody could ask whom it follows. It stays stopped. Before it is started again, "
        "make sure that it is at least as new as its primary."
    ),
    "same_server_twice": (
        "Two rows of the inventory lead to one and the same server (same server_uid, server_id and port). It would be "
        "changed twice, perhaps at once. Take one of the rows out."
    ),
    "primary_outside_inventory": (
        "The host replicates from a server that is not in the inventory. The host may be changed: a replica may be "
        "newer than its primary. Remember the primary when its turn comes."
    ),
    "primary_identity_differs": (
        "The address that the replica follows belongs to one host of the inventory, but the server that answers the "
        "replica there calls itself by another server id: a moved virtual address, a proxy, or a copied setting. Find "
        "out who the primary is; the order depends on it."
    ),
    "joined_by_server_id": (
        "The address that the replica follows is none of the inventory's (a virtual address, a DNS alias, a tunnel); "
        "its primary was told by the server id, which only one host of the inventory has. Check that it is the one."
    ),
    "replica_outside_inventory": (
        "A replica is connected to the host from an address that the inventory does not hold. Its version is unknown, "
        "and a primary must not become newer than its replica. Add the replica to the inventory. Programs that read "
        "the binary log (change data capture, binlog servers) look the same."
    ),
    "replica_not_asked": (
        "A replica of the host is connected to it, but could not be reached or asked by us. Whether it will be at least"
        " as new as its primary is unknown, so the primary waits. Make the replica reachable, then plan again."
    ),
    "cluster_not_synced": (
        "A node of the cluster is no synced member of the primary component: a donor, a joiner, or a split. No node is "
        "taken down before all others are Synced. See wsrep_local_state_comment and wsrep_cluster_status on each node."
    ),
    "cluster_node_outside_inventory": (
        "The cluster has more nodes than the inventory. The others stay at their release. Add them, or know why not."
    ),
    "cluster_of_one": "The cluster has one node, so that nobody serves while it restarts.",
    "replication_cycle": (
        "Hosts replicate from each other and more than one of them takes writes (or is not known to be read-only), so "
        "that in any order one of them is older than its primary for a while. Make all but one read-only for the time "
        "of the run, then plan again."
    ),
    "replication_ring_read_only": (
        "Hosts replicate from each other and at most one of them takes writes. They are changed one at a time, the one "
        "that takes writes last."
    ),
    "replica_would_be_older": (
        "The host is a primary and would become newer than a replica of its own, which MariaDB does not support, patch "
        "releases included. Take the replica into the run, or leave the primary out of it. A blocked replica blocks "
        "its primary in the same way. On the way back it is the replica that would become older than its primary: take "
        "the primary back first, or both in one rollback."
    ),
    "primary_release_unknown": (
        "The host is a replica that a rollback would take to an older release, and its primary could not be asked what "
        "it runs: it does not answer, or the inventory lacks it. A replica older than its primary is not supported. "
        "Look at the primary; with --accept-unknown-primary the replica goes back all the same."
    ),
    "replica_is_older": (
        "A replica is older than its primary already, and this run does not mend it. MariaDB does not support that; "
        "bring the replica up first."
    ),
    "memory_pressure": (
        "From this release on the server no longer empties its buffer pool when the kernel reports memory pressure. "
        "Less surprise, and no memory given back: watch hosts that share their memory with others."
    ),
    "unit_capabilities": (
        "The release changed the capabilities of the systemd unit, and starts on an old systemd (EL 8, Ubuntu 20.04) "
        "were seen to end with status 218/CAPABILITIES. If that happens it is the unit, not the allocator's drop-in."
    ),
    "unit_private_devices": (
        "The unit no longer sets PrivateDevices=false, so that a server whose tablespace lies on a raw device needs an "
        "override of its own before the upgrade."
    ),
    "selinux_package": "With SELinux the server needs the separate package mysql-selinux. Install it with the server.",
    "unit_hardening": (
        "The release adds ProtectControlGroups and more hardening to the unit. Overrides that write to /sys/fs/cgroup "
        "or load modules stop working at the next start."
    ),
    "galera_protocol": (
        "The release raises the group communication protocol of the cluster. The raise takes effect when the last node "
        "runs it; from then on no single node can go back to an older release. The way back is open until then."
    ),
    "galera_dependency": "The server package no longer depends on the Galera provider: see that it stays installed.",
    "galera_scripts": (
        "The scripts with which a node bootstraps a cluster and takes a state transfer moved to the package "
        "mariadb-server-galera, which is not installed on this node. Without it the node would not come back. Install "
        "it with the upgrade."
    ),
    "mysqld_opts": "The unit's MYSQLD_OPTS is deprecated from this release on: move what it holds into an option file.",
    "replica_gtid": (
        "A replica loses its GTID mode at this release (MDEV-39788); the next one mends it. Choose a later target, or "
        "compare Using_Gtid of every channel before and after (the check `replication` does)."
    ),
    "replica_gtid_lost": (
        "The replica runs the release that loses the GTID mode of replicas and its channel uses none. Where it should, "
        "set it again: CHANGE MASTER TO MASTER_USE_GTID=slave_pos."
    ),
    "galera_protocol_raised": (
        "Every node of the cluster runs a release that raised the group communication protocol, so that a node taken "
        "back alone could not join the others. Node by node there is no way back; it would take the whole cluster "
        "stopped at once, which is not done without a person. Keep the release."
    ),
    "gate_answers": "Health gate: a query is answered on the unit's socket. When it fails, nobody is served.",
    "gate_error_log": (
        "Health gate: the error log has no [ERROR] since the server's start that its baseline did not have. Read the "
        "lines in the evidence before going on."
    ),
    "gate_replication": (
        "Health gate: every replication channel runs as in the baseline, with the same source and GTID mode. A channel "
        "that is still on its way back is waited for."
    ),
    "gate_lag": (
        "Health gate: no channel is further behind than before by more than the limit. The next host waits until the "
        "replica has caught up; one that does not is looked at by a person."
    ),
    "gate_wsrep": (
        "Health gate: the node is Synced in the primary component and its cluster as large as in the baseline. No "
        "other node is taken down before."
    ),
    "gate_hit_ratio": (
        "Health gate: the share of page requests that miss the buffer pool is not worse than the baseline by more than "
        "the margin. It is compared once the pool is warm: no load under way, and 90 % of the pages it held before."
    ),
    "gate_latency": (
        "Health gate: the median time of our own probe query, compared at about as many Questions a second and with a "
        "warm pool. `skip` says why it cannot be compared."
    ),
    "gate_threads": (
        "Health gate: statements at work at once (Threads_running, the probe's own left out), compared at about as "
        "many Questions a second and with a warm pool. `skip` says why it cannot be compared."
    ),
}
