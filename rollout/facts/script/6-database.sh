# The database, asked over the socket on which the unit's own process listens.

sockets() { # paths of the sockets on which the process listens, as seen from here
  open=$(ls -l "/proc/$main_pid/fd") || return
  while read -r _ _ _ flags _ _ node path; do
    [ "$flags" = 00010000 ] || continue
    case $open in *"socket:[$node]"*) ;; *) continue ;; esac
    case $path in
      @* | '') continue ;;
      /*) if [ -S "$path" ]; then echo "$path"; else echo "/proc/$main_pid/root$path"; fi ;;
      *) echo "/proc/$main_pid/cwd/$path" ;;
    esac
  done <"/proc/$main_pid/net/unix"
}

client=mariadb
command -v mariadb >/dev/null 2>&1 || client=mysql
ask() { # OPTIONS...: the statements come on standard input, complaints stand where the answer would
  limit 60 "$client" "$@" --batch --unbuffered --force --connect-timeout=5 2>&1
}
first="SELECT CONCAT_WS('|', 'places', @@datadir, IFNULL(@@tmpdir, ''), IFNULL(@@innodb_log_group_home_dir, ''), IFNULL(@@log_error, ''));"

log_in() { # sets `entry` and `places`
  entry='' complaints=''
  all=$(sockets 2>&1) || complaints="its sockets could not be listed: $all"
  # shellcheck disable=SC2086
  for socket in $all; do
    [ -S "$socket" ] || continue
    if places=$(echo "$first" | limit 20 "$client" --no-defaults --user=root --socket="$socket" -N --batch --connect-timeout=5 2>&1); then
      entry=socket
      return
    fi
    complaints="$complaints$places"
    [ -n "$defaults_file" ] || continue
    if places=$(echo "$first" | limit 20 "$client" --defaults-file="$defaults_file" --socket="$socket" -N --batch --connect-timeout=5 2>&1); then
      entry='defaults file'
      return
    fi
    complaints="$complaints; with $defaults_file: $places"
  done
  places=
}

entry='' places='' complaints=''
if [ "$main_pid" != 0 ] && [ -n "$main_pid" ]; then
  log_in
  if [ -n "$entry" ]; then say login 0 "$entry" ''; else say login 1 '' "${complaints:-no socket on which it listens}"; fi
fi

at_work() { # a statement that looks eight times at how many statements are at work, 30 ms apart: one look is chance
  look="SELECT variable_value AS running, SLEEP(0.03) AS slept FROM information_schema.global_status WHERE variable_name = 'THREADS_RUNNING'"
  echo "$look UNION ALL $look UNION ALL $look UNION ALL $look UNION ALL $look UNION ALL $look UNION ALL $look UNION ALL $look"
}

statements() {
  while IFS='|' read -r name statement; do
    printf "SELECT '%s' AS \`%s query\`;\n%s;\n" "$name" "$mark" "$statement"
  done <<END
version|SELECT @@version AS version, @@version_comment AS comment
variables|SHOW GLOBAL VARIABLES
status|SHOW GLOBAL STATUS
plugins|SELECT plugin_name FROM information_schema.plugins WHERE plugin_status = 'ACTIVE'
schemas|SELECT s.schema_name AS name, COUNT(t.table_name) AS tables FROM information_schema.schemata s LEFT JOIN information_schema.tables t ON t.table_schema = s.schema_name GROUP BY s.schema_name
xa|XA RECOVER
transactions|SELECT COUNT(*) AS open, MAX(TIMESTAMPDIFF(SECOND, trx_started, NOW())) AS longest FROM information_schema.innodb_trx
clients|SELECT COUNT(*) AS clients FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND user NOT IN ('system user', 'event_scheduler') AND command NOT IN ('Daemon', 'Binlog Dump', 'Slave_IO', 'Slave_SQL', 'Slave_worker')
replicas|SELECT host FROM information_schema.processlist WHERE command = 'Binlog Dump'
channels|SHOW ALL SLAVES STATUS
digests|SELECT LEFT(digest_text, 200) AS digest FROM performance_schema.events_statements_summary_by_digest WHERE digest_text LIKE '%FREE_PAGE_CLOCK%' OR digest_text LIKE '%pages_made_young%'
data|SELECT SUM(clustered_index_size + sum_of_other_index_sizes) AS pages FROM mysql.innodb_table_stats
at_work|$(at_work)
END
  if [ "$deep" = 1 ]; then
    printf "SELECT 'pool' AS \`%s query\`;\nSELECT pool_id, pool_size, free_buffers, database_pages, old_database_pages, modified_database_pages, lru_io_total FROM information_schema.innodb_buffer_pool_stats;\n" "$mark"
  fi
}

answer uptime '' cat /proc/uptime
if [ -n "$entry" ]; then
  if [ "$entry" = socket ]; then set -- --no-defaults --user=root; else set -- --defaults-file="$defaults_file"; fi
  database() { statements | ask "$@" --socket="$socket"; }
  answer database '' database "$@"
fi
if [ "$main_pid" != 0 ] && [ -n "$main_pid" ]; then
  answer process-stat '' cat "$process/stat"
  answer switches '' awk '
    $1 == "voluntary_ctxt_switches:" { own += $2 }
    $1 == "nonvoluntary_ctxt_switches:" { forced += $2 }
    END { print own + 0, forced + 0 }' "$process"/task/[0-9]*/status
fi
