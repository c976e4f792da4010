"""Ways to break a host, and to mend it: shell text that runs in it as root."""

LIBRARY = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
DROP_INS = "/etc/systemd/system/mariadb.service.d"

# A file system of its own, with `room_kib` KiB left, over a folder; umount brings the old one back.
FILL = """folder={folder} room_kib={room_kib}
mkdir -p -m 0700 $folder /tmp/kept && cp -a $folder/. /tmp/kept/
mount -t tmpfs -o size=$(( $(du -sk /tmp/kept | cut -f 1) + room_kib ))k none $folder
cp -a /tmp/kept/. $folder/ && rm -r /tmp/kept"""

# Somebody else's dpkg: a process that holds both locks as apt and dpkg do (fcntl), until its file is gone.
HOLD_DPKG = r"""touch /run/held
cat >/run/hold.pl <<'END'
use Fcntl;
for my $name ("lock-frontend", "lock") {
  open(my $file, ">>", "/var/lib/dpkg/$name") or die; push @kept, $file;
  my $asked = pack("s s x4 q q i x4", F_WRLCK, 0, 0, 0, 0);
  fcntl($file, F_SETLKW, $asked) or die;
}
open(my $done, ">", "/run/holding"); close($done);
while (-e "/run/held") { select(undef, undef, undef, 0.1); }
END
systemd-run --quiet --collect --unit=other-dpkg perl /run/hold.pl
for i in $(seq 300); do if [ -e /run/holding ]; then exit 0; fi; sleep 0.1; done; exit 1"""
RELEASE_DPKG = """rm -f /run/held; while systemctl -q is-active other-dpkg; do sleep 0.1; done
rm -f /run/holding /run/hold.pl"""

# The server starts at its old version only, whatever the reason may be.
NO_START = """mkdir -p /run/systemd/system/mariadb.service.d
cat >/run/systemd/system/mariadb.service.d/break.conf <<'END'
[Service]
ExecStartPre=/bin/sh -c '! dpkg-query -W mariadb-server | grep -qF "{target}"'
END
systemctl daemon-reload"""
MAY_START = "rm -r /run/systemd/system/mariadb.service.d; systemctl daemon-reload"

# An ELF file of another architecture: the machine's number in the header says AArch64 (183).
OTHER_MACHINE = f"printf '\\267\\000' | dd of=$(readlink -f {LIBRARY}) bs=1 seek=18 conv=notrunc status=none"
NO_ELF = f"echo no library >$(readlink -f {LIBRARY})"
MISSING = f"rm $(readlink -f {LIBRARY})"

FOREIGN = f"""mkdir -p {DROP_INS}
printf '[Service]\\nEnvironment="LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libz.so.1"\\n' >{DROP_INS}/override.conf
systemctl daemon-reload"""
NOT_FOREIGN = f"rm {DROP_INS}/override.conf; rmdir {DROP_INS} 2>/dev/null || :; systemctl daemon-reload"

# What dpkg runs after each change: sixty megabytes, escape sequences that retitle a terminal, bytes that are no text.
NOISY = r"""cat >/etc/apt/apt.conf.d/99noise <<'END'
DPkg::Post-Invoke { "yes flood | head -c 60000000; printf '\033]0;owned\007\033[31m\377\376\n'"; };
END"""
QUIET = "rm /etc/apt/apt.conf.d/99noise"

# A login shell that does not stop talking before it runs what it was asked to run.
FLOODING_SHELL = "cp -p ~admin/.bashrc /run/bashrc; sed -i '1i yes flood | head -c 200000000' ~admin/.bashrc"
CALM_SHELL = "cp -p /run/bashrc ~admin/.bashrc"

INVOCATION = "systemctl show mariadb -p InvocationID --value"
