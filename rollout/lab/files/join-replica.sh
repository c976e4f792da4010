# Replicates from the first binary log of another host: both started from the same data. Arguments: password, address.
set -eu
mariadb <<SQL
CHANGE MASTER TO MASTER_HOST='$2', MASTER_USER='replica', MASTER_PASSWORD='$1', MASTER_CONNECT_RETRY=1,
  MASTER_USE_GTID=slave_pos;
START SLAVE;
SQL
tries=0
until mariadb -e 'SHOW SLAVE STATUS\G' | grep -q 'Seconds_Behind_Master: [0-9]'; do
    tries=$((tries + 1))
    if [ "$tries" -gt 600 ]; then
        mariadb -e 'SHOW SLAVE STATUS\G' | grep -E 'Running|Error' >&2
        exit 1
    fi
    sleep 0.1
done
