# Runs once inside a base tree: the database from the fleet's own repository, the user of the inventory, quiet timers.
# Arguments: the packages to install, each as name=version.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* /var/lib/apt/lists/* /var/cache/apt/*
mkdir -p /var/cache/apt/archives/partial
echo 'deb [trusted=yes] copy:/srv/repo ./' >/etc/apt/sources.list
apt-get update
apt-get install -y --no-install-recommends "$@"
apt-get clean

useradd --create-home --uid 1000 --shell /bin/bash admin
useradd --system --home-dir /var/lib/rollout-demo-writer --create-home --shell /usr/sbin/nologin rollout-demo-writer
echo 'admin ALL=(ALL:ALL) NOPASSWD: ALL' >/etc/sudoers.d/admin
chmod 0440 /etc/sudoers.d/admin
rm -f /etc/ssh/ssh_host_* /etc/hostname /etc/resolv.conf
: >/etc/resolv.conf
for unit in apt-daily.timer apt-daily-upgrade.timer console-getty.service; do
    ln -sf /dev/null "/etc/systemd/system/$unit"
done
