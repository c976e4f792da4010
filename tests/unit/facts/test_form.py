"""Facts as JSON: unknown stays unknown, and nothing is lost on the way there and back."""

import json
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import get_type_hints

import pytest

from rollout.facts.form import facts_from_json, facts_to_json
from rollout.facts.model import Facts, Package, PackageSource, PackageVersion
from rollout.facts.unknown import Unknown, blank, known_or
from rollout.versions import ServerVersion

DOMAINS = (
    *("system", "packages", "server", "allocator", "memory", "pool", "workload", "storage", "replication", "trail"),
)


def dark(reason: str = "nobody looked") -> Facts:
    """Facts in which nothing at all is known."""
    hints = get_type_hints(Facts)
    return Facts(
        host="db1",
        taken_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        seconds=0.5,
        unit=Unknown(reason),
        other_servers=Unknown(reason),
        **{name: blank(hints[name], reason) for name in DOMAINS},
    )


def lit() -> Facts:
    """Facts with values of every shape: text, map, nested rows, known absence."""
    facts = dark()
    row = PackageVersion("1:11.8.9-1", 500, (PackageSource(500, "http://a.example main", origin="Debian"),))
    package = Package("mariadb-server", "amd64", "1:11.8.9-1", "install ok installed", held=Unknown("no apt-mark"))
    packages = replace(facts.packages, items=(replace(package, versions=(row,)),), manager="apt")
    version = ServerVersion("mariadb", (11, 8, 9), "11.8.9-MariaDB")
    server = replace(facts.server, running=version, client=None, status={"Questions": "7"}, uptime_seconds=3.5)
    return replace(facts, packages=packages, server=server, unit=None)


@pytest.mark.parametrize("facts", [dark(), lit()], ids=["dark", "lit"])
def test_facts_come_back_from_json_as_they_were(facts: Facts) -> None:
    """Values, absences and reasons survive the way through a JSON text."""
    assert facts_from_json(json.loads(json.dumps(facts_to_json(facts)))) == facts


def test_every_unknown_fact_tells_its_reason_by_its_path() -> None:
    """JSON shows null for what is unknown, and the reason under the dotted path."""
    document = facts_to_json(lit())
    assert document["schema"] == 1
    assert document["server"]["on_disk"] is None
    assert document["unknown"]["server.on_disk"] == "nobody looked"
    assert document["unknown"]["packages.items.0.held"] == "no apt-mark"
    assert document["server"]["client"] is None
    assert "server.client" not in document["unknown"]


def test_a_dark_host_has_a_reason_for_each_field() -> None:
    """No fact of any domain falls back to a default where nothing is known; looks that nobody took are none."""
    document = facts_to_json(dark())
    hints = get_type_hints(Facts)
    facts = {f"{domain}.{item.name}" for domain in DOMAINS for item in fields(hints[domain])}
    expected = facts - {"workload.at_work"}
    assert set(document["unknown"]) == expected | {"unit", "other_servers"}


def test_unknown_has_no_truth_value() -> None:
    """An `if` on an unknown fact is a mistake of ours and says so."""
    with pytest.raises(TypeError, match="no truth value"):
        bool(Unknown("lost"))
    assert known_or(Unknown("lost"), 7) == 7
    assert known_or(5, 7) == 5
