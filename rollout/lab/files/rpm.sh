# Runs once inside a copy of a base tree: turns it into a host of the rpm world. The debs of rpm, dnf and zypper go in, the debs
# of the database go out, and the same files come back as RPMs built here, with the scriptlets that MariaDB's RPMs have.
# In /srv/repo: tools/ old/ new/ (debs). Arguments: old upstream version, new upstream version.
# Leaves in /srv/made: old/ and new/ (RPMs, each with a `repodata`; the one of new/ lists both) and extra/.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
old=$1 new=$2 release=1.el9 work=/srv/work made=/srv/made
rm -f /etc/apt/sources.list
apt-get -q -y --no-install-recommends -o Dpkg::Use-Pty=0 \
  -o Dpkg::Options::=--force-unsafe-io install /srv/repo/tools/*.deb >/dev/null
# Where rpm has its database on hosts of its own; Debian's has it in the home of whoever calls it, and libzypp does not.
mkdir -p /etc/rpm
echo '%_dbpath /var/lib/rpm' >/etc/rpm/macros

# The data stay as they are; so do mysql-common (my.cnf and its alternatives) and the libraries that the programs need.
packages=$(dpkg-query -W -f '${Package}\n' 'mariadb-*' libmariadb3 galera-4 2>/dev/null | sort -u)
for package in $packages; do
  rm -f /var/lib/dpkg/info/"$package".*inst /var/lib/dpkg/info/"$package".*rm /var/lib/dpkg/info/"$package".config \
    /var/lib/dpkg/info/"$package":*.*inst /var/lib/dpkg/info/"$package":*.*rm
done
# shellcheck disable=SC2086
dpkg --purge --force-depends $packages >/dev/null 2>&1
rm -rf /etc/systemd/system/*/mariadb.s* /etc/systemd/system/mysql*.service /etc/systemd/system/mariadb.service.d

mkdir -p "$work" "$made/old" "$made/new" "$made/extra"
cat >/root/.rpmmacros <<'MACROS'
%_binary_payload w1.gzdio
%_build_id_links none
%debug_package %{nil}
%__os_install_post %{nil}
%_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm
MACROS

build() { # NAME VERSION INTO VENDOR: the files of $work/files, with more of the spec on standard input
  spec=$work/$1.spec
  {
    printf 'Name: %s\nVersion: %s\nRelease: %s\nSummary: Files of Debian as an RPM of the rehearsal fleet\n' "$1" "$2" "$release"
    printf 'License: GPLv2\nVendor: %s\nAutoReqProv: no\nBuildArch: x86_64\n' "$4"
    cat
    printf '%%description\nStand-in of the rehearsal fleet: the files of the Debian packages, with the scriptlets of the real RPMs.\n%%files\n'
    cd "$work/files"
    find . ! -type d | sed 's|^\.||' | while IFS= read -r file; do
      case $file in /etc/*) printf '%%config(noreplace) ' ;; esac
      printf '"%s"\n' "$file"
    done
  } >"$spec"
  rpmbuild -bb --quiet --define "_rpmdir $3" --define "_topdir $work/top" --buildroot "$work/files" \
    --noclean --define "__spec_install_pre %{nil}" --define "__spec_install_post %{nil}" "$spec" >"$work/log" 2>&1 || { tail -n 6 "$work/log" >&2; exit 1; }
}

files_of() { # DEB...: unpack into $work/files as an EL host has them
  rm -rf "$work/files"
  mkdir -p "$work/files"
  for deb in "$@"; do dpkg-deb -x "$deb" "$work/files"; done
  cd "$work/files"
  if [ -d lib ]; then mkdir -p usr && cp -a lib/. usr/lib/ && rm -rf lib; fi
  rm -rf etc/init.d etc/apparmor.d etc/logcheck etc/logrotate.d usr/share/doc usr/share/man usr/share/bug usr/share/lintian \
    usr/share/apport usr/share/mysql-test
}

nothing() { rm -rf "$work/files"; mkdir -p "$work/files"; }

database() { # FOLDER VERSION
  debs=/srv/repo/$1 into=$made/$1 version=$2
  files_of "$debs"/mariadb-common_*.deb
  build MariaDB-common "$version" "$into" 'MariaDB Foundation' </dev/null
  files_of "$debs"/libmariadb3_*.deb
  build MariaDB-shared "$version" "$into" 'MariaDB Foundation' </dev/null
  files_of "$debs"/mariadb-client_*.deb "$debs"/mariadb-client-core_*.deb
  echo 'Requires: MariaDB-common, MariaDB-shared' | build MariaDB-client "$version" "$into" 'MariaDB Foundation'
  files_of "$debs"/mariadb-backup_*.deb
  echo 'Requires: MariaDB-client' | build MariaDB-backup "$version" "$into" 'MariaDB Foundation'
  for kind in bzip2 lz4 lzma lzo snappy; do
    files_of "$debs"/mariadb-plugin-provider-"${kind}"_*.deb
    echo "Requires: MariaDB-server = $version-$release" | build MariaDB-provider-"$kind" "$version" "$into" 'MariaDB Foundation'
  done
  files_of "$debs"/mariadb-server_*.deb "$debs"/mariadb-server-core_*.deb
  build MariaDB-server "$version" "$into" 'MariaDB Foundation' <<'SPEC'
Requires: MariaDB-client, MariaDB-common
Provides: mysql-server
%pre
if [ "$1" -gt 1 ] && systemctl -q is-active mariadb; then touch /run/mariadb-was-running; fi
exit 0
%post
if [ "$1" = 1 ]; then systemctl -q enable mariadb.service; fi
exit 0
%preun
if [ "$1" = 0 ]; then systemctl -q disable --now mariadb.service; fi
exit 0
%posttrans
systemctl daemon-reload >/dev/null 2>&1
if [ -e /run/mariadb-was-running ]; then rm -f /run/mariadb-was-running; systemctl try-restart mariadb >/dev/null 2>&1; fi
exit 0
SPEC
}

database old "$old"
database new "$new"
# A younger series stands in the same repository, as in MariaDB's own.
nothing
build MariaDB-server 11.4.9 "$made/old" 'MariaDB Foundation' </dev/null
# jemalloc is in a repository of its own, which is not enabled.
files_of /srv/repo/old/libjemalloc2_*.deb
mkdir -p usr/lib64
mv usr/lib/*/libjemalloc.so.2 usr/lib64/
build jemalloc 5.3.0 "$made/extra" 'Fedora Project' </dev/null
build libjemalloc2 5.3.0 "$made/extra" 'openSUSE' </dev/null # the same, as SUSE names it
nothing
echo 'Provides: /bin/sh glibc' | build rehearsal-base 9 "$made/extra" 'rehearsal fleet'
cd /

# The index names its files after their content, so that one index can take the place of the other.
mkdir "$work/both"
cp "$made"/old/*.rpm "$made"/new/*.rpm "$work/both"
for folder in "$made/old" "$work/both" "$made/extra"; do createrepo_c --quiet --no-database --unique-md-filenames "$folder"; done
mv "$work/both/repodata" "$made/new/repodata"

cat >/etc/os-release <<'RELEASE'
NAME="Rehearsal Linux"
PRETTY_NAME="Rehearsal Linux 9 (an EL family host on a Debian tree)"
ID="rehearsal"
ID_LIKE="rhel centos fedora"
VERSION_ID="9.6"
RELEASE
rm -rf /etc/apt/sources.list /etc/yum.repos.d
mkdir -p /etc/yum.repos.d /etc/dnf
cat >/etc/yum.repos.d/mariadb.repo <<'REPO'
[mariadb-main]
name=MariaDB of the rehearsal fleet
baseurl=file:///srv/repo
gpgcheck=0
REPO
cat >/etc/yum.repos.d/extra.repo <<'REPO'
[extra]
name=Extra packages of the rehearsal fleet
baseurl=file:///srv/repo/extra
gpgcheck=0
enabled=0
REPO
printf '[main]\ngpgcheck=1\ninstallonly_limit=3\nclean_requirements_on_remove=True\nbest=True\n' >/etc/dnf/dnf.conf
mkdir -p /etc/dnf/vars
echo 9 >/etc/dnf/vars/releasever
rpm --install "$made/extra/rehearsal-base-"*.rpm
sed -i "s|file:///srv/repo$|file://$made/old|" /etc/yum.repos.d/mariadb.repo
dnf -q -y install MariaDB-server-"$old" MariaDB-client-"$old" MariaDB-provider-bzip2-"$old" MariaDB-provider-lz4-"$old" \
  MariaDB-provider-lzma-"$old" MariaDB-provider-lzo-"$old" MariaDB-provider-snappy-"$old"
sed -i "s|file://$made/old|file:///srv/repo|" /etc/yum.repos.d/mariadb.repo
dnf -q clean all
# zypper has the same two, both enabled. It has been run once, as on any host of its kind.
mkdir -p /etc/zypp/repos.d
for name in mariadb extra; do
  sed -e 's/^enabled=0/enabled=1/' -e 's/^gpgcheck=0/&\nautorefresh=0\ntype=rpm-md/' "/etc/yum.repos.d/$name.repo" >"/etc/zypp/repos.d/$name.repo"
done
zypper --non-interactive --disable-repositories search --installed-only rehearsal-base >/dev/null
rm -rf /var/cache/zypp /var/log/zypp*
mkdir -p /etc/systemd/system/multi-user.target.wants
ln -sfn /usr/lib/systemd/system/mariadb.service /etc/systemd/system/multi-user.target.wants/mariadb.service
rm -rf "$work" /root/.rpmmacros /var/lib/dpkg/info/*.list-old
