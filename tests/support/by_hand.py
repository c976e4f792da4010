"""What a person does on a host, without the product."""

from rollout.lab.rehearsal import Rehearsal

INSTALLED = "dpkg-query -W -f '${Version}' mariadb-server"
_OURS = "dpkg-query -W -f '${source:Package} ${Package}\\n' | awk '$1 == \"mariadb\" {print $2}'"
_INSTALL = "DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --allow-downgrades"


def installed(fleet: Rehearsal, name: str, version: str) -> None:
    """Take all MariaDB packages of a host to a version, with apt alone."""
    fleet.text(name, "apt-get update -qq")
    packages = " ".join(f"{package}={version}" for package in fleet.text(name, _OURS).split())
    fleet.text(name, f"{_INSTALL} {packages} >/dev/null 2>&1")
    assert fleet.text(name, INSTALLED) == version
