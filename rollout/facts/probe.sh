# What one look at a host runs, with /bin/sh, in one round trip. It changes nothing on the host: what it needs on disk
# (apt's cache of the lists, and the lists themselves where a refresh is asked for) lies in one private directory that
# goes away at the end.
#
# Set above this line by the program: mark sent_at unit defaults_file backup_directory refresh deep refusal
#
# Every answer is framed by the random mark, so that nothing a command prints can pass for a frame:
#   MARK begin NAME ARGUMENT / what it printed / MARK err STATUS / what it complained of / MARK end

LC_ALL=C LANGUAGE=C
export LC_ALL LANGUAGE
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
export PATH
umask 077
exec 3>&1
work=$(mktemp -d "${TMPDIR:-/tmp}/rollout-probe.XXXXXX" 2>/dev/null) || work=
trap 'if [ -n "$work" ]; then rm -rf "$work"; fi' EXIT
trap 'exit 129' HUP INT PIPE TERM

# --- the frame ---------------------------------------------------------------------------------------------------

answer() { # NAME ARGUMENT COMMAND...: run the command and frame what it printed
  printf '%s begin %s %s\n' "$mark" "$1" "$2"
  shift 2
  complaint=$("$@" 2>&1 >&3 3>&- </dev/null)
  status=$?
  printf '\n%s err %s\n%s\n%s end\n' "$mark" "$status" "$complaint" "$mark"
}

say() { # NAME STATUS TEXT COMPLAINT: frame what is known already
  printf '%s begin %s \n%s\n%s err %s\n%s\n%s end\n' "$mark" "$1" "$3" "$mark" "$2" "$4" "$mark"
}

need() { # COMMAND...: the first that is missing is named; a pipeline would hide it
  for program in "$@"; do
    if ! command -v "$program" >/dev/null 2>&1; then
      echo "$program: not found" >&2
      return 127
    fi
  done
}

limit() { # SECONDS COMMAND...: a command that may hang ends after that time, where the host has timeout(1)
  if command -v timeout >/dev/null 2>&1; then
    timeout "$@"
  else
    shift
    "$@"
  fi
}

printf 'rollout-probe 1 %s\n' "$mark"
say sent 0 "$sent_at" ''
say refusal 0 "$refusal" ''
answer time-begin '' date +%s.%N

# --- the machine --------------------------------------------------------------------------------------------------

answer user '' id -u
answer os-release '' cat /etc/os-release
answer uname '' uname -srm
answer hostname '' uname -n
addresses() { hostname -I || ip -o address show scope global; }
answer addresses '' addresses
answer page-size '' getconf PAGESIZE
answer clock-ticks '' getconf CLK_TCK
answer glibc '' getconf GNU_LIBC_VERSION
answer cores '' nproc
answer meminfo '' cat /proc/meminfo
answer thp '' cat /sys/kernel/mm/transparent_hugepage/enabled
present() { if [ -e "$1" ]; then cat "$1"; else echo absent; fi; }
answer selinux '' present /sys/fs/selinux/enforce
answer apparmor '' present /sys/module/apparmor/parameters/enabled
answer init '' cat /proc/1/comm
answer boot-id '' cat /proc/sys/kernel/random/boot_id
answer systemd-version '' limit 15 systemctl --version

# --- which unit, which process ------------------------------------------------------------------------------------

servers() { # pid, unit, PID namespace (same, other, ?), executable of every database server process
  own=$(readlink /proc/self/ns/pid 2>/dev/null)
  for file in /proc/[0-9]*/comm; do
    read -r name 2>/dev/null <"$file" || continue
    case $name in mariadbd | mysqld) ;; *) continue ;; esac
    pid=${file#/proc/}
    pid=${pid%/comm}
    theirs=$(readlink "/proc/$pid/ns/pid" 2>/dev/null)
    space=other
    if [ -z "$own" ] || [ -z "$theirs" ]; then space='?'; elif [ "$own" = "$theirs" ]; then space=same; fi
    service=
    while read -r line; do
      case $line in *.service*)
        line=${line%.service*}.service
        service=${line##*/}
        ;;
      esac
    done 2>/dev/null <"/proc/$pid/cgroup"
    printf '%s|%s|%s|%s\n' "$pid" "$service" "$space" "$(readlink "/proc/$pid/exe" 2>/dev/null)"
  done
}

running_units() { # the units of server processes that are not in a container, each once
  seen=' '
  while IFS='|' read -r pid service space _; do
    [ "$space" != other ] && [ -n "$service" ] || continue
    case $seen in *" $service "*) ;; *) seen="$seen$service " ;; esac
  done <<END
$found
END
  printf '%s' "$seen"
}

loaded_unit() { # the true Id of the first well-known name that systemd has a unit for
  shown=$(limit 15 systemctl show -p Id -p LoadState mariadb.service mysql.service mysqld.service) || return
  id=
  while IFS= read -r line; do
    case $line in
      Id=*) id=${line#Id=} ;;
      LoadState=loaded)
        echo "$id"
        return
        ;;
    esac
  done <<END
$shown
END
}

choose_unit() {
  if [ -n "$unit" ]; then
    echo "$unit"
    return
  fi
  units=$(running_units)
  # shellcheck disable=SC2086
  set -- $units
  case $#:$units in
    1:*) echo "$1" ;;
    0:*) loaded_unit ;;
    *' mariadb.service '*) echo mariadb.service ;;
    *)
      echo "several servers run here ($*): name the one that is meant with rollout_unit" >&2
      return 3
      ;;
  esac
}

found=$(servers)
say servers 0 "$found" ''
answer unit-choice '' choose_unit
service=$(choose_unit 2>/dev/null)

properties=Id,Names,LoadState,ActiveState,SubState,UnitFileState,MainPID,InvocationID,NRestarts,NeedDaemonReload
properties=$properties,ExecMainStartTimestampMonotonic,ExecMainStatus,Result,FragmentPath,DropInPaths,Environment
properties=$properties,EnvironmentFiles,User,Group,ExecStart,TimeoutStartUSec,TimeoutStopUSec,TriggeredBy,SendSIGKILL
properties=$properties,ProtectHome,ProtectSystem,PrivateTmp,PrivateDevices,PrivateUsers,NoNewPrivileges,AmbientCapabilities
properties=$properties,CapabilityBoundingSet,SystemCallFilter,RootDirectory,MemoryHigh,MemoryMax,LimitMEMLOCK,LimitNOFILE
properties=$properties,OOMScoreAdjust,Restart,StatusText,DynamicUser,ProtectKernelTunables,ProtectControlGroups
properties=$properties,RestrictAddressFamilies,ReadWritePaths,InaccessiblePaths,UMask,LoadError

main_pid=0 invocation='' fragment='' drop_ins='' environment_files='' starts=''
if [ -n "$service" ]; then
  shown=$(limit 15 systemctl show --no-pager -p "$properties" -- "$service" 2>&1)
  status=$?
  say unit "$status" "$shown" "$shown"
  while IFS= read -r line; do
    case $line in
      MainPID=*) main_pid=${line#*=} ;;
      InvocationID=*) invocation=${line#*=} ;;
      FragmentPath=*) fragment=${line#*=} ;;
      DropInPaths=*) drop_ins=${line#*=} ;;
      EnvironmentFiles=*)
        line=${line#*=}
        environment_files="$environment_files ${line% (*}"
        ;;
      ExecStart=*)
        line=${line#*path=}
        starts=${line%% *}
        ;;
    esac
  done <<END
$shown
END
elif [ ! -d /run/systemd/system ]; then
  # Without systemd there is no unit to ask, and the one server that runs is the one that is meant.
  while IFS='|' read -r pid _ space _; do
    if [ "$space" != other ] && [ -n "$pid" ]; then main_pid=$pid; fi
  done <<END
$found
END
fi

preload_lines() { # the lines of a file that bear on the allocator, and no other: the rest may be secret
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in *LD_PRELOAD=* | *MALLOC_CONF=*) printf '%s\n' "$line" ;; esac
  done <"$1"
}

if [ -n "$fragment" ]; then answer unit-file "$fragment" cat "$fragment"; fi
for file in $drop_ins; do answer unit-file "$file" cat "$file"; done
for file in $environment_files; do
  if [ -e "$file" ]; then answer environment-file "$file" preload_lines "$file"; else answer no-environment-file "$file" :; fi
done
answer ld-so-preload '' present /etc/ld.so.preload
manager_environment() {
  need systemctl grep || return
  variables=$(limit 15 systemctl show-environment) || return
  printf '%s\n' "$variables" | grep -E '^(LD_PRELOAD|MALLOC_CONF)=' || :
}
answer manager-environment '' manager_environment

# --- the process --------------------------------------------------------------------------------------------------

executable=
if [ "$main_pid" != 0 ] && [ -n "$main_pid" ]; then
  process=/proc/$main_pid
  answer exe '' readlink "$process/exe"
  executable=$(readlink "$process/exe" 2>/dev/null)
  executable=${executable% (deleted)}
  answer maps '' awk '$6 ~ "^/" && !seen[$6 $7]++' "$process/maps"
  environ() {
    need tr grep || return
    tr '\000' '\n' <"$process/environ" | grep -E '^(LD_PRELOAD|MALLOC_CONF)=' || [ -r "$process/environ" ]
  }
  answer environ '' environ
  answer domain '' cat "$process/attr/current"
  answer process-status '' cat "$process/status"
  answer smaps '' awk '
    function row() { if (range != "") print range, name, rss, anonymous, lazy, swap }
    $1 ~ "^[0-9a-f]+-[0-9a-f]+$" { row(); range = $1; name = $6 == "" ? "-" : $6; rss = anonymous = lazy = swap = 0; next }
    $1 == "Rss:" { rss = $2 }
    $1 == "Anonymous:" { anonymous = $2 }
    $1 == "LazyFree:" { lazy = $2 }
    $1 == "Swap:" { swap = $2 }
    END { row() }' "$process/smaps"
fi

# --- versions of the files on disk --------------------------------------------------------------------------------

server_binary() { # the file that the unit starts, or the usual places
  for file in "$executable" "$starts" /usr/sbin/mariadbd /usr/libexec/mariadbd /usr/sbin/mysqld /usr/libexec/mysqld; do
    case ${file##*/} in mariadbd | mysqld) if [ -x "$file" ]; then readlink -f "$file" && return; fi ;; esac
  done
  echo 'no mariadbd and no mysqld in any of the usual places' >&2
  return 4
}

either() { # run the first of two programs that is there
  program=$1
  command -v "$program" >/dev/null 2>&1 || program=$2
  shift 2
  "$program" "$@"
}

capabilities() { # getcap; where it is missing, tar shows whether the extended attribute is there
  if command -v getcap >/dev/null 2>&1; then
    getcap "$1"
  else
    need tar head tr grep || return
    tar --xattrs --xattrs-include=security.capability -cf - -C / "${1#/}" | head -c 2048 | tr -c '[:print:]' '\n' |
      grep -o 'SCHILY.xattr.security.capability' || :
  fi
}

elf_header() { # the first 20 bytes: class, byte order and machine of an ELF file
  need head od || return
  head -c 20 "$1" | od -An -v -tx1
}

answer server-binary '' server_binary
binary=$(server_binary 2>/dev/null)
if [ -n "$binary" ]; then
  answer server-version '' "$binary" --no-defaults --version
  answer capabilities '' capabilities "$binary"
  answer server-elf '' elf_header "$binary"
fi
answer client-version '' either mariadb mysql --version
answer backup-version '' either mariadb-backup mariabackup --version
option_files() { # from the option files, only the options that are asked for: others may be secret
  need my_print_defaults grep || return
  my_print_defaults "$@" | grep -E '^--(version|datadir|socket|malloc[-_]lib)=' || :
}
answer server-options '' option_files --mysqld
answer safe-options '' option_files mysqld_safe

# --- packages -----------------------------------------------------------------------------------------------------

os_family() {
  ID='' ID_LIKE=''
  # shellcheck disable=SC1091
  . /etc/os-release 2>/dev/null
  case " $ID $ID_LIKE " in
    *' debian '* | *' ubuntu '*) echo apt ;;
    *' rhel '* | *' fedora '* | *' centos '*) echo dnf ;;
    *suse*) echo zypper ;;
    *)
      for program in apt-get:apt dnf:dnf zypper:zypper; do
        if command -v "${program%:*}" >/dev/null 2>&1; then
          echo "${program#*:}"
          return
        fi
      done
      echo none
      ;;
  esac
}

lock_holders() { # path, pid and command of each process that holds a lock of the package system
  for file in "$@"; do
    [ -e "$file" ] || continue
    need stat ls tr || return
    node=$(stat -c %i "$file") || return
    while read -r _ _ _ _ pid place _; do
      [ "${place##*:}" = "$node" ] || continue
      case $(ls -l "/proc/$pid/fd" 2>/dev/null) in *"$file"*) ;; *) continue ;; esac
      printf '%s\t%s\t%s\n' "$file" "$pid" "$(tr '\000\t\n' '   ' <"/proc/$pid/cmdline")"
    done </proc/locks
  done
}

fragment_sums() { # the checksum of the unit's file, beside the one that its package gives
  if [ -z "$fragment" ]; then return 0; fi
  short=${fragment#/usr} short=${short#/}
  while IFS= read -r line; do
    case $line in *"  $short" | *"  usr/$short") printf 'package %s\n' "$line" ;; esac
  done <<END
$(cat /var/lib/dpkg/info/mariadb-server*.md5sums /var/lib/dpkg/info/mysql-server*.md5sums 2>/dev/null)
END
  printf 'file %s\n' "$(md5sum "$fragment")"
}

apt_options() { # one word a line: where apt keeps what it computes, so that the host's own cache stays as it is
  if [ -z "$work" ]; then
    printf '%s\n' -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    return
  fi
  printf '%s\n' -o "Dir::Cache::pkgcache=$work/pkgcache.bin" -o "Dir::Cache::srcpkgcache=$work/srcpkgcache.bin"
  if [ "$refresh" = 1 ]; then printf '%s\n' -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache"; fi
}

apt_refresh() {
  if [ -z "$work" ]; then
    echo 'no private directory for the package lists could be made' >&2
    return 5
  fi
  chmod 755 "$work" && (umask 022 && mkdir -p "$work/lists/partial" "$work/cache/archives/partial") || return
  # Hooks that other packages hang on an update would write to the host.
  printf '#clear APT::Update::%s;\n' Pre-Invoke Post-Invoke Post-Invoke-Success >"$work/apt.conf"
  # shellcheck disable=SC2046
  limit 120 apt-get -c "$work/apt.conf" $(apt_options) update 2>&1
}

apt_packages() {
  answer package-architecture '' dpkg --print-architecture
  answer package-manager-version '' dpkg-query -W -f '${Version}' apt
  answer packages '' dpkg-query -W \
    -f '${Package}\t${Architecture}\t${Version}\t${Status}\t${source:Package}\t${binary:Package}\n'
  answer automatic '' present /var/lib/apt/extended_states
  answer package-audit '' dpkg --audit
  answer package-locks '' lock_holders /var/lib/dpkg/lock-frontend /var/lib/dpkg/lock /var/lib/apt/lists/lock \
    /var/cache/apt/archives/lock
  answer unattended '' apt-config dump APT::Periodic::Unattended-Upgrade
  answer lists-age '' stat -c %Y /var/lib/apt/lists /var/lib/apt/lists/partial
  if [ "$refresh" = 1 ]; then answer refresh '' apt_refresh; else
    for file in pkgcache.bin srcpkgcache.bin; do
      if [ -n "$work" ] && [ -e "/var/cache/apt/$file" ]; then ln -s "/var/cache/apt/$file" "$work/$file"; fi
    done
  fi
  names=$(dpkg-query -W -f '${Package}:${db:Status-Status}\n' 'mariadb-*' 'libmariadb*' 'galera*' mysql-common 2>/dev/null |
    sed -n 's/:installed$//p;s/:half-.*//p;s/:unpacked$//p;s/:triggers-.*//p')
  # shellcheck disable=SC2046,SC2086
  answer package-versions '' apt-cache $(apt_options) policy $names mariadb-server mariadb-backup libjemalloc2 libjemalloc1
  # shellcheck disable=SC2046
  answer package-sources '' apt-cache $(apt_options) policy
  answer changed-files '' fragment_sums
  if [ -n "$executable$binary" ]; then answer owner '' dpkg-query -S "${executable:-$binary}"; fi
  for name in $(dpkg-query -W -f '${binary:Package}:::${db:Status-Status}\n' 'libjemalloc*' 2>/dev/null); do
    case $name in *:::installed) answer library-files "${name%:::*}" library_files dpkg-query -L "${name%:::*}" ;; esac
  done
}

library_files() { # path, real path, ELF header of every shared library that the command lists
  "$@" | while read -r file; do
    case $file in *.so.*) [ -f "$file" ] && printf '%s\t%s\t%s\n' "$file" "$(readlink -f "$file")" "$(elf_header "$file" | tr -d '\n')" ;; esac
  done
}

rpm_packages() {
  form='%{NAME}\t%{ARCH}\t%|EPOCH?{%{EPOCH}:}:{}|%{VERSION}-%{RELEASE}\tinstalled\t%{SOURCERPM}\t%{VENDOR}\n'
  answer package-architecture '' rpm --eval '%{_arch}'
  answer package-manager-version '' rpm -q --qf '%{VERSION}' "$1"
  answer packages '' rpm -qa --qf "$form"
  answer package-locks '' lock_holders /var/lib/rpm/.rpm.lock /usr/lib/sysimage/rpm/.rpm.lock /run/zypp.pid
  if [ -n "$executable$binary" ]; then answer owner '' rpm -qf --qf '%{NAME}\n' "${executable:-$binary}"; fi
  if [ -n "$fragment" ]; then answer changed-files '' rpm -Vf --nodeps --noscripts "$fragment"; fi
  for name in $(rpm -qa --qf '%{NAME}\n' '*jemalloc*' 2>/dev/null); do
    answer library-files "$name" library_files rpm -ql "$name"
  done
}

dnf_packages() {
  rpm_packages dnf
  lists='-C'
  if [ "$refresh" = 1 ] && [ -n "$work" ]; then
    lists="--setopt=cachedir=$work/dnf --setopt=persistdir=$work/dnf-state"
    # shellcheck disable=SC2086
    answer refresh '' limit 120 dnf -q $lists --setopt=logdir="$work" makecache
  fi
  # shellcheck disable=SC2086
  answer package-versions '' limit 60 dnf -q $lists --setopt=logdir="${work:-/tmp}" repoquery --showduplicates \
    --qf '%{name}\t%{arch}\t%{epoch}:%{version}-%{release}\t%{repoid}\t%{vendor}\n' \
    'MariaDB-*' 'mariadb*' 'galera*' 'libmariadb*' jemalloc
  answer holds '' present /etc/dnf/plugins/versionlock.list
  excludes() { grep -hEi '^[[:space:]]*(exclude|excludepkgs)[[:space:]]*=' /etc/dnf/dnf.conf /etc/yum.repos.d/*.repo || [ $? = 1 ]; }
  answer excludes '' excludes
  answer lists-age '' stat -c %Y /var/cache/dnf
}

zypper_packages() {
  rpm_packages zypper
  answer package-versions '' limit 60 zypper --no-refresh --xmlout search --details --type package 'mariadb*' \
    'MariaDB-*' 'galera*' 'libmariadb*' 'libjemalloc*'
  answer holds '' present /etc/zypp/locks
  answer lists-age '' stat -c %Y /var/cache/zypp/raw
}

manager=$(os_family)
say package-manager 0 "$manager" ''
case $manager in apt | dnf | zypper) "${manager}_packages" ;; esac

# --- the database -------------------------------------------------------------------------------------------------

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
first="SELECT CONCAT_WS('|', @@datadir, @@tmpdir, @@innodb_log_group_home_dir, @@log_error);"

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

statements() {
  while IFS='|' read -r name statement; do
    printf "SELECT '%s' AS \`%s query\`;\n%s;\n" "$name" "$mark" "$statement"
  done <<'END'
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

# --- room and identity --------------------------------------------------------------------------------------------

room() { # whether the path is there, its device and inode, and the file system under it or under what holds it
  holder=$1
  while [ ! -e "$holder" ] && [ "$holder" != / ]; do
    holder=${holder%/*}
    holder=${holder:-/}
  done
  if [ -e "$1" ]; then echo present; else echo absent; fi
  stat -L -c '%d %i' "$holder" || return
  limit 15 df -P -T -k "$holder"
}

datadir='' tmpdir='' logdir='' error_log=''
IFS='|' read -r datadir tmpdir logdir error_log <<END
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

# --- what was left behind -----------------------------------------------------------------------------------------

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
monitoring() { # files of monitoring agents that read counters which change their meaning with the fix
  need grep || return
  for folder in zabbix telegraf prometheus munin nagios netdata collectd datadog-agent icinga2 sensu; do
    [ -d "/etc/$folder" ] && grep -rlsiE 'FREE_PAGE_CLOCK|pages_made_(not_)?young' "/etc/$folder"
  done
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
