# What a host is like, one line a thing: kind, TAB, name, TAB, what it is like.
# The datadir is compared by the checksums of its tables; with `tables` as the first word nothing else is looked at.
set -eu
export LC_ALL=C
if [ "${1-}" != tables ]; then
files() {
  find / -xdev \( -path /proc -o -path /sys -o -path /run -o -path /dev -o -path /tmp -o -path /var/lib/mysql \) -prune \
    -o "$@"
}
files -type f -printf '%p\t%m %U %G\n' | sort >/tmp/modes
files -type f -print0 | sort -z | xargs -0 b2sum -l 128 | sed 's/^\([0-9a-f]*\)  \(.*\)$/\2\t\1/' >/tmp/sums
join -t "$(printf '\t')" /tmp/modes /tmp/sums | sed 's/^/file\t/'
files -type l -printf 'link\t%p\t%l\n'
files -type d -printf 'folder\t%p\t%m %U %G\n'
rm -f /tmp/modes /tmp/sums
dpkg-query -W -f 'package\t${Package}\t${Version} ${db:Status-Abbrev}\n'
if command -v rpm >/dev/null; then rpm -qa --qf 'package\t%{NAME}\t%{VERSION}-%{RELEASE}\n'; fi
apt-mark showauto | sed 's/^/automatic\t/; s/$/\tyes/'
apt-mark showhold | sed 's/^/held\t/; s/$/\tyes/'
systemctl list-unit-files --no-legend --no-pager | awk '{ print "unit-file\t" $1 "\t" $2 }'
systemctl list-units --all --no-legend --no-pager --plain --type=service,socket \
  | awk '$1 !~ /^(rollout-2|user@|user-runtime|session|ssh@|systemd-tmpfiles-clean|e2scrub|dpkg-db-backup|apt-daily)/ { print "unit\t" $1 "\t" $3 }'
fi
skipped="'mysql', 'performance_schema', 'sys', 'rollout_demo_writer'"
tables=$(mariadb -N -e "SELECT CONCAT('\`', table_schema, '\`.\`', table_name, '\`') FROM information_schema.tables
  WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ($skipped)")
for table in $tables; do mariadb -N -e "CHECKSUM TABLE $table" | awk -F '\t' '{ print "table\t" $1 "\t" $2 }'; done
