"""The rehearsal fleet: real hosts on this machine, each with its own systemd, sshd, apt and MariaDB server."""
