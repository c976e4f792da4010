"""What all fleets of this machine share: which subnets are taken, and the kernel limit raised for them.

The ledger is one file that exists only while a fleet is up; it is held locked while it is changed.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from rollout.errors import UsageProblem
from rollout.lab.layout import Place, preferred_subnet
from rollout.lab.limits import INOTIFY, inotify_needed
from rollout.lab.tools import run

LEDGER = Path("/run/rollout-lab.json")


class Claim(BaseModel):
    """One fleet in the ledger."""

    model_config = ConfigDict(extra="forbid")

    state: Path
    subnet: int
    hosts: int


class Ledger(BaseModel):
    """All fleets of this machine, and the limit on inotify instances as it was before the first."""

    model_config = ConfigDict(extra="forbid")

    fleets: dict[str, Claim] = Field(default_factory=dict)
    inotify_before: int | None = None


def claim(place: Place, hosts: int) -> int:
    """Enter a fleet, raise the inotify limit when it needs that, and return the number of its subnet.

    Raises `UsageProblem` when a fleet of this name belongs to another state directory, or no subnet is free.
    """
    with _open() as ledger:
        known = ledger.fleets.get(place.name)
        if known and known.state != place.state.absolute():
            raise UsageProblem(
                f"a fleet named {place.name} is up already, with its state in {known.state}",
                hint="give this one another --name, or take the other down first",
            )
        subnet = known.subnet if known else _free_subnet(place.name, ledger)
        others = sum(fleet.hosts for name, fleet in ledger.fleets.items() if name != place.name)
        _raise_inotify(ledger, others + hosts)
        ledger.fleets[place.name] = Claim(state=place.state.absolute(), subnet=subnet, hosts=hosts)
        return subnet


def subnet_of(place: Place) -> int | None:
    """Return the subnet of the fleet that is up under this name, None when there is none.

    Raises `UsageProblem` when it belongs to another state directory, unless that has lost the fleet: then it is
    anybody's to take down.
    """
    with _open() as ledger:
        known = ledger.fleets.get(place.name)
    if known is None:
        return None
    if known.state != place.state.absolute() and Place(known.state, place.name).folder.is_dir():
        message = f"the fleet {place.name} belongs to another state directory, {known.state}"
        raise UsageProblem(message, hint=f"take it down with --state-dir {known.state}")
    return known.subnet


def release(place: Place) -> None:
    """Take a fleet out of the ledger; the last one gives the inotify limit back as it was."""
    with _open() as ledger:
        ledger.fleets.pop(place.name, None)
        if not ledger.fleets and ledger.inotify_before is not None:
            INOTIFY.write_text(str(ledger.inotify_before))
            ledger.inotify_before = None


def _raise_inotify(ledger: Ledger, hosts: int) -> None:
    limit, needed = int(INOTIFY.read_text()), inotify_needed(hosts)
    if limit >= needed:
        return
    try:
        INOTIFY.write_text(str(needed))
    except OSError as error:
        raise UsageProblem(
            f"{hosts} hosts need fs.inotify.max_user_instances={needed}; it is {limit} and cannot be raised: {error}",
            hint="raise it on the machine outside, or ask for fewer hosts",
        ) from None
    if ledger.inotify_before is None:
        ledger.inotify_before = limit


def _free_subnet(name: str, ledger: Ledger) -> int:
    """Return the preferred subnet of `name`, or the next one that neither a fleet nor a link of this machine has."""
    taken = {fleet.subnet for fleet in ledger.fleets.values()} | _addressed_subnets()
    first = preferred_subnet(name)
    for step in range(254):
        subnet = 1 + (first - 1 + step) % 254
        if subnet not in taken:
            return subnet
    raise UsageProblem("no subnet in 10.77.1.0 to 10.77.254.0 is free", hint="take some fleets down")


def _addressed_subnets() -> set[int]:
    links = json.loads(run(["ip", "-json", "address"], doing="listing addresses"))
    addresses = (entry.get("local", "") for link in links for entry in link.get("addr_info", ()))
    return {int(address.split(".")[2]) for address in addresses if address.startswith("10.77.")}


@contextmanager
def _open() -> Iterator[Ledger]:
    """Hold the ledger locked; write it back when the block ends well, and remove it when it is empty."""
    while True:
        with LEDGER.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file.fileno()).st_nlink == 0:  # removed by the one who held it before us
                continue
            file.seek(0)
            text = file.read()
            ledger = Ledger.model_validate_json(text) if text else Ledger()
            try:
                yield ledger
            finally:
                if ledger.fleets:
                    file.truncate(0)
                    file.write(ledger.model_dump_json(indent=2).encode())
                    file.flush()
                else:
                    LEDGER.unlink()
            return
