# Joins a Galera cluster, or starts it when no other node answers. Arguments: name, own address, all addresses.
set -eu
cat >/etc/mysql/mariadb.conf.d/91-topology.cnf <<CNF
[mariadbd]
bind-address=0.0.0.0
binlog_format=ROW
innodb_autoinc_lock_mode=2
wsrep_on=ON
wsrep_provider=/usr/lib/galera/libgalera_smm.so
wsrep_cluster_name=rehearsal
wsrep_cluster_address=gcomm://$3
wsrep_node_name=$1
wsrep_node_address=$2
wsrep_sst_method=rsync
CNF
peer_answers() {
    for peer in $(echo "$2" | tr , ' '); do
        if [ "$peer" != "$1" ] && timeout 1 bash -c ": </dev/tcp/$peer/4567" 2>/dev/null; then
            return 0
        fi
    done
    return 1
}
# A socket of systemd holds port 3306, and the server that looks for its position before it joins wants it, too.
systemctl --quiet disable --now mariadb.socket
systemctl stop mariadb
if peer_answers "$2" "$3"; then
    systemctl start mariadb
else
    galera_new_cluster
fi
tries=0
until mariadb -NBe "SHOW STATUS LIKE 'wsrep_local_state_comment'" | grep -q Synced; do
    tries=$((tries + 1))
    [ "$tries" -le 600 ]
    sleep 0.1
done
