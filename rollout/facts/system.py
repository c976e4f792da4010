"""The machine under the server, from what the probe printed of it."""

import re
from datetime import datetime
from ipaddress import ip_interface

from rollout.facts.frame import Answers, assignments, lines, read
from rollout.facts.model import System
from rollout.facts.unknown import Known

# Debian's multiarch names (deb-multiarch(7), "MultiarchTuples"), by dpkg's name of the architecture.
TRIPLETS = {
    "amd64": "x86_64-linux-gnu",
    "arm64": "aarch64-linux-gnu",
    "armel": "arm-linux-gnueabi",
    "armhf": "arm-linux-gnueabihf",
    "i386": "i386-linux-gnu",
    "mips64el": "mips64el-linux-gnuabi64",
    "ppc64el": "powerpc64le-linux-gnu",
    "riscv64": "riscv64-linux-gnu",
    "s390x": "s390x-linux-gnu",
}


def parse_system(answers: Answers, received_at: datetime | None) -> System:
    """Read the machine's facts; `received_at` is the controller's time when the whole answer had come."""
    release = read(answers.text("os-release"), lambda text: assignments(lines(text)))
    names = read(answers.text("uname"), lambda text: text.rsplit(maxsplit=2)[-2:])
    memory = read(answers.text("meminfo"), parse_meminfo)
    return System(
        os_id=read(release, lambda fields: fields["ID"]),
        os_like=read(release, lambda fields: fields.get("ID_LIKE", "")),
        os_version=read(release, lambda fields: fields.get("VERSION_ID", "")),
        codename=read(release, lambda fields: fields.get("VERSION_CODENAME") or None),
        kernel=read(names, lambda words: words[0]),
        architecture=read(names, lambda words: words[1]),
        triplet=_triplet(answers),
        glibc=read(answers.text("glibc"), lambda text: text.split()[-1]),
        page_size_bytes=read(answers.text("page-size"), int),
        cores=read(answers.text("cores"), int),
        ram_bytes=read(memory, lambda fields: fields["MemTotal"]),
        ram_available_bytes=read(memory, lambda fields: fields["MemAvailable"]),
        swap_total_bytes=read(memory, lambda fields: fields["SwapTotal"]),
        swap_free_bytes=read(memory, lambda fields: fields["SwapFree"]),
        transparent_hugepage=read(answers.text("thp"), chosen),
        selinux=read(answers.text("selinux"), lambda text: _state(text, {"1": "enforcing", "0": "permissive"})),
        apparmor=read(answers.text("apparmor"), lambda text: _state(text, {"Y": "enabled", "N": "disabled"})),
        init=answers.text("init"),
        systemd_version=read(answers.text("systemd-version"), lambda text: int(text.split()[1])),
        boot_id=answers.text("boot-id"),
        hostname=answers.text("hostname"),
        clock_offset_seconds=clock_offset_seconds(answers, received_at),
        privileged=read(answers.text("user"), lambda text: int(text) == 0),
        addresses=read(answers.text("addresses"), parse_addresses),
    )


def parse_addresses(text: str) -> tuple[str, ...]:
    """Read the addresses of the interfaces from `hostname -I` (addresses alone) or from `ip -o address`."""
    words = re.findall(r"\binet6? (\S+)", text) or text.split()
    return tuple(str(ip_interface(word).ip) for word in words)


def parse_meminfo(text: str) -> dict[str, int]:
    """Read /proc/meminfo into bytes by name."""
    rows = re.findall(r"^(\S+):\s+(\d+) kB$", text, re.MULTILINE)
    return {name: int(kibibytes) * 1024 for name, kibibytes in rows}


def chosen(text: str) -> str:
    """Return the word in brackets, as the kernel marks the chosen one: `always [madvise] never`."""
    found = re.search(r"\[(\w+)\]", text)
    if found is None:
        raise ValueError("no word stands in brackets")
    return found[1]


def _state(text: str, names: dict[str, str]) -> str | None:
    return None if text == "absent" else names[text]


def _triplet(answers: Answers) -> Known[str | None]:
    architecture = answers.text("package-architecture", otherwise="no package manager that could be asked")
    return read(
        answers.text("package-manager"),
        lambda manager: read(architecture, lambda name: TRIPLETS[name]) if manager == "apt" else None,
    )


def clock_offset_seconds(answers: Answers, received_at: datetime | None) -> Known[float]:
    """Return by how much the host's clock is ahead of the controller's.

    The host's last word against the moment at which the controller had it: the way back is short, while the way
    there may hold a whole login. It is behind by that way. Without `received_at` the sending has to do.
    """
    begin, end = (read(answers.text(name), float) for name in ("time-begin", "time-end"))
    if received_at is None:
        return read(begin, lambda host: read(answers.text("sent"), lambda sent: round(host - float(sent), 3)))
    return read(end, lambda host: round(host - received_at.timestamp(), 3))
