# What was left behind: complaints, starts, backups, readers of the LRU's counters; and the last word.

journal() { # complaints of the server and of the loader since the unit's start, the newest 200
  need journalctl grep tail || return
  limit 30 journalctl -q --no-pager -o cat -n 10000 "_SYSTEMD_INVOCATION_ID=$invocation" |
    grep -F -e '[ERROR]' -e 'ld.so: object' | tail -n 200
}
invocations() { # the unit's starts in this boot, oldest first
  need journalctl awk || return
  limit 30 journalctl -q --no-pager -b -n 20000 -u "$service" -o export \
    --output-fields=INVOCATION_ID,_SYSTEMD_INVOCATION_ID |
    awk -F= '($1 == "INVOCATION_ID" || $1 == "_SYSTEMD_INVOCATION_ID") && !seen[$2]++ { print $2 }'
}
error_log() { # what the error log says after its last "as process", the newest 200
  need tail awk || return
  tail -c 1000000 "$1" | awk '
    / as process [0-9]/ { count = 0 }
    index($0, "[ERROR]") { kept[count++] = $0 }
    END { for (row = count > 200 ? count - 200 : 0; row < count; row++) print kept[row] }'
}
backups() { # path, KiB and checkpoints of each backup that the backup directory holds
  need du tr || return
  for file in "$backup_directory"/*/*_checkpoints "$backup_directory"/*/*/*_checkpoints; do
    [ -f "$file" ] || continue
    size=$(du -s -k "${file%/*}") || return
    printf '%s\t%s\t%s\n' "${file%/*}" "${size%%[!0-9]*}" "$(tr '\n' ';' <"$file")"
  done
}
outdated='FREE_PAGE_CLOCK|pages_made_(not_)?young'
monitoring() { # files of monitoring that read counters which change their meaning with the fix
  need grep || return
  for folder in zabbix telegraf prometheus munin nagios netdata collectd datadog-agent icinga2 sensu; do
    if [ -d "/etc/$folder" ]; then grep -rlsiE "$outdated" "/etc/$folder"; fi
  done
  while IFS= read -r file; do
    if [ -z "$file" ]; then continue; fi
    if [ ! -e "$file" ]; then
      echo "$file does not exist (rollout_monitoring_paths)" >&2
      return 6
    fi
    grep -rlsiE "$outdated" "$file"
  done <<END
$monitoring_paths
END
  return 0
}
if [ -n "$invocation" ]; then answer journal '' journal; fi
if [ -n "$service" ]; then answer invocations '' invocations; fi
case $error_log in
  '' | stderr) ;;
  /*) answer error-log "$error_log" error_log "$error_log" ;;
  *) answer error-log "$datadir/$error_log" error_log "$datadir/$error_log" ;;
esac
answer backups "$backup_directory" backups
answer monitoring '' monitoring
answer time-end '' date +%s.%N
printf '%s end-of-probe\n' "$mark"
