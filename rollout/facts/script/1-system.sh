# The machine.

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
