# Which unit is the server's, which process, and who asks for a preload.

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
