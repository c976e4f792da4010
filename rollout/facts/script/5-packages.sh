# The package system.

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

rpm_lock_holders() { # libzypp's lock is a file with the number of a process, free when that process is gone
  lock_holders /var/lib/rpm/.rpm.lock /usr/lib/sysimage/rpm/.rpm.lock
  for file in /run/zypp.pid /run/zypp-rpm.pid; do
    if [ ! -s "$file" ]; then continue; fi
    pid=$(tr -cd 0-9 <"$file")
    if [ -z "$pid" ]; then continue; fi
    holder=$(tr '\000\t\n' '   ' 2>/dev/null <"/proc/$pid/cmdline")
    if [ -n "$holder" ]; then printf '%s\t%s\t%s\n' "$file" "$pid" "$holder"; fi
  done
}

rpm_packages() {
  form='%{NAME}\t%{ARCH}\t%|EPOCH?{%{EPOCH}:}:{}|%{VERSION}-%{RELEASE}\tinstalled\t%{SOURCERPM}\t%{VENDOR}\n'
  answer package-architecture '' rpm --eval '%{_arch}'
  answer package-manager-version '' rpm -q --qf '%{VERSION}' "$1"
  answer packages '' rpm -qa --qf "$form"
  answer package-locks '' rpm_lock_holders
  if [ -n "$executable$binary" ]; then answer owner '' rpm -qf --qf '%{NAME}\n' "${executable:-$binary}"; fi
  if [ -n "$fragment" ]; then answer changed-files '' rpm -Vf --nodeps --noscripts "$fragment"; fi
  for name in $(rpm -qa --qf '%{NAME}\n' '*jemalloc*' 2>/dev/null); do
    answer library-files "$name" library_files rpm -ql "$name"
  done
}

dnf_packages() {
  rpm_packages dnf
  # -C: from the lists that are there. A private folder keeps what dnf computes from them off the host.
  lists='-C' logs=${work:-/tmp}
  if [ "$refresh" = 1 ] && [ -n "$work" ]; then
    lists="-C --setopt=cachedir=$work/dnf --setopt=persistdir=$work/dnf-state"
    # shellcheck disable=SC2086
    answer refresh '' limit 120 dnf ${lists#-C } --setopt=logdir="$logs" makecache
  fi
  # shellcheck disable=SC2086
  answer package-versions '' limit 60 dnf -q $lists --setopt=logdir="$logs" repoquery --showduplicates \
    --qf '%{name}\t%{arch}\t%{epoch}:%{version}-%{release}\t%{repoid}\t%{vendor}\n' \
    'MariaDB-*' 'mariadb*' 'galera*' 'libmariadb*' jemalloc
  if [ -z "$(rpm -qa '*jemalloc*')" ]; then
    # shellcheck disable=SC2086
    answer offered-files '' limit 60 dnf -q $lists --setopt=logdir="$logs" repoquery --list jemalloc
  fi
  answer holds '' present /etc/dnf/plugins/versionlock.list
  excludes() { grep -hEi '^[[:space:]]*(exclude|excludepkgs)[[:space:]]*=' /etc/dnf/dnf.conf /etc/yum.repos.d/*.repo || [ $? = 1 ]; }
  answer excludes '' excludes
  modules() { cat /etc/dnf/modules.d/mariadb.module /etc/dnf/modules.d/mysql.module 2>/dev/null || :; }
  answer modules '' modules
  answer lists-age '' stat -c %Y /var/cache/dnf
}

zypp() { # zypper in the private folder: it takes no lock, so nobody has to wait for it, and writes no log of the host's
  if [ "$1" = refresh ]; then lists=; else lists=--no-refresh; fi
  # shellcheck disable=SC2086
  limit 120 env HOME="${HOME:-/root}" ZYPP_READONLY_HACK=1 ZYPP_LOGFILE=/dev/null \
    zypper --non-interactive --no-color $lists --cache-dir "$work/zypp" "$@"
}

zypper_lists() { # the lists that are there, for zypper to compute from: what it writes goes into the copy
  mkdir -p "$work/zypp/raw" || return
  for folder in /var/cache/zypp/raw/*; do
    if [ -d "$folder" ]; then ln -s "$folder" "$work/zypp/raw/" || return; fi
  done
  if [ -d /var/cache/zypp/solv ]; then cp -a /var/cache/zypp/solv "$work/zypp/solv"; fi
}

zypper_vendors() { # repository, package, vendor: the list of offers does not say who built them
  need sed sort awk || return
  names=$(sed -n 's/.*<solvable .* name="\([^"]*\)".*/\1/p' "$work/offers" | sort -u)
  sed -n 's/.*<solvable .* repository="\([^"]*\)".*/\1/p' "$work/offers" | sort -u | while IFS= read -r repository; do
    if [ "$repository" = '(System Packages)' ]; then continue; fi
    # shellcheck disable=SC2086
    zypp info --repo "$repository" $names 2>/dev/null | awk -v repository="$repository" '
      /^Name +: / { name = $3 }
      /^Vendor +: / { sub(/^Vendor +: /, ""); print repository "\t" name "\t" $0 }'
  done
}

zypper_packages() {
  rpm_packages zypper
  if [ -n "$work" ]; then
    if [ "$refresh" = 1 ]; then answer refresh '' zypp refresh; else zypper_lists; fi
    zypp --xmlout search --details --type package 'mariadb*' 'MariaDB*' 'galera*' 'libmariadb*' 'libjemalloc*' >"$work/offers" 2>"$work/complaint"
    status=$?
    say package-versions "$status" "$(cat "$work/offers")" "$(cat "$work/complaint")"
    answer package-vendors '' zypper_vendors
  else
    say package-versions 5 '' 'no private directory for what zypper computes could be made'
  fi
  locks=$(sed -n 's/^[[:space:]]*locksfile\.path[[:space:]]*=[[:space:]]*//p' /etc/zypp/zypp.conf 2>/dev/null | tail -n 1)
  answer holds '' present "${locks:-/etc/zypp/locks}"
  list_times() { stat -c %Y /var/cache/zypp/raw /var/cache/zypp/raw/*/cookie; }
  answer lists-age '' list_times
}

manager=$(os_family)
say package-manager 0 "$manager" ''
case $manager in apt | dnf | zypper) "${manager}_packages" ;; esac
