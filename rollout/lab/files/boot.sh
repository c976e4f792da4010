# The keeper of one rehearsal host: makes its namespaces, boots it, and boots it again when it reboots.
# Started by `unshare --mount --net`; every mount and link made here goes when the last process of the host goes.
# Arguments: machine name, host name, folder of the host, base tree, address, hardware address, link on the
# controller's side, process whose network namespace is the controller's, bridge, package repository,
# an address that gets no answer (or `-`), control groups.
set -eu
machine=$1 host=$2 folder=$3 base=$4 address=$5 mac=$6 link=$7 controller=$8 bridge=$9
shift 9
repository=$1 unanswered=$2
shift 2
for group in "$@"; do
    mkdir -p "$group"
    echo $$ >"$group/cgroup.procs"
done
echo $$ >"$folder/keeper.pid"
cd "$folder"

# nspawn wants to remove its propagation folder when a host ends, and refuses to do so on a disk.
mkdir -p /run/systemd
mount -t tmpfs -o mode=0755 tmpfs /run/systemd
mount -t overlay -o "lowerdir=seed:$base,upperdir=upper,workdir=work" overlay root

ip link set lo up
ip link add eth0 address "$mac" type veth peer name "$link" netns "$controller"
nsenter --target "$controller" --net ip link set "$link" master "$bridge" up
ip address add "$address" dev eth0
ip link set eth0 up
[ "$unanswered" = - ] || ip route add blackhole "$unanswered"

# With --keep-unit nspawn ends with 133 when the host asked for a reboot.
status=133
while [ "$status" = 133 ]; do
    status=0
    systemd-nspawn --quiet --register=no --keep-unit --machine="$machine" --hostname="$host" --directory=root --boot \
        --network-namespace-path=/proc/self/ns/net --console=read-only --link-journal=no --resolv-conf=off \
        --timezone=off --bind-ro="$repository:/srv/repo" || status=$?
done
exit "$status"
