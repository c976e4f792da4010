# Lets replicas in. Argument: their password.
set -eu
mariadb <<SQL
CREATE USER IF NOT EXISTS 'replica'@'10.77.%' IDENTIFIED BY '$1';
GRANT REPLICATION SLAVE ON *.* TO 'replica'@'10.77.%';
SQL
