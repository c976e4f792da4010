# Room on the file systems that matter, and the identity of the data.

room() { # whether the path is there, its device and inode, and the file system under it or under what holds it
  case $1 in
    /*) holder=$1 ;;
    *)
      echo "$1 is no absolute path" >&2
      return 6
      ;;
  esac
  while [ ! -e "$holder" ] && [ "$holder" != / ]; do
    holder=${holder%/*}
    holder=${holder:-/}
  done
  if [ -e "$1" ]; then echo present; else echo absent; fi
  stat -L -c '%d %i' "$holder" || return
  limit 15 df -P -T -k "$holder"
}

datadir='' tmpdir='' logdir='' error_log=''
while IFS='|' read -r word one two three four; do # the client may warn before it answers
  if [ "$word" = places ]; then datadir=$one tmpdir=$two logdir=$three error_log=$four; fi
done <<END
$places
END
if [ -z "$datadir" ]; then
  datadir=$(option_files --mysqld 2>/dev/null | sed -n 's/^--datadir=//p' | tail -n 1)
  if [ -z "$datadir" ] && [ -d /var/lib/mysql ]; then datadir=/var/lib/mysql; fi
fi
datadir=${datadir%/}
case $logdir in '' | . | ./) logdir=$datadir ;; /*) ;; *) logdir=$datadir/$logdir ;; esac
if [ -n "$datadir" ]; then
  answer room-datadir "$datadir" room "$datadir"
  answer room-ibdata1 "$datadir/ibdata1" room "$datadir/ibdata1"
  answer room-mysql_schema "$datadir/mysql" room "$datadir/mysql"
  answer room-log_group_home "$logdir" room "${logdir%/}"
  if [ "$deep" = 1 ]; then answer datadir-bytes '' limit 120 du -s -k "$datadir"; fi
fi
answer room-tmpdir "${tmpdir:-/tmp}" room "${tmpdir:-/tmp}"
answer room-var_lib_mysql /var/lib/mysql room /var/lib/mysql
case $manager in dnf) cache=/var/cache/dnf ;; zypper) cache=/var/cache/zypp ;; *) cache=/var/cache/apt/archives ;; esac
answer room-package_cache "$cache" room "$cache"
answer room-backup_directory "$backup_directory" room "$backup_directory"
answer room-run_directory /var/lib/rollout room /var/lib/rollout
moved() { for file in /var/lib/mysql-*; do if [ -d "$file" ]; then printf '%s\n' "$file"; fi; done; }
answer moved '' moved
