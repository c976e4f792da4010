# Runs once inside a base tree: starts the server without systemd, reads the SQL on standard input, stops it again.
set -eu
install -d -o mysql -g mysql /run/mysqld
mariadbd --user=mysql --skip-networking --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=1G &
server=$!
until mariadb-admin ping >/dev/null 2>&1; do
    kill -0 "$server"
    sleep 0.1
done
mariadb --batch
mariadb -e 'SET GLOBAL innodb_fast_shutdown = 0'
mariadb-admin shutdown
wait "$server"
