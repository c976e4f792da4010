"""The inventory as `ansible-inventory --list` prints it: groups, and the variables of each host as written."""

import json
from collections.abc import Collection
from datetime import date
from typing import Any

from rollout.inventory.model import Inventory
from rollout.inventory.variables import VaultText, Verbatim

# How Ansible 2.19 and later name the form of the document.
_PROFILE = "inventory_legacy"


def listing(inventory: Inventory, hosts: Collection[str]) -> dict[str, Any]:
    """Build the document for the hosts given: `_meta.hostvars`, and each group's hosts and children."""
    wanted = set(hosts)
    hostvars = {
        host: {name: variable.value for name, variable in inventory.variables(host).items()}
        for host in inventory.members("all")
        if host in wanted
    }
    meta = {"hostvars": {host: values for host, values in hostvars.items() if values}, "profile": _PROFILE}
    document: dict[str, Any] = {"_meta": meta}
    for group in inventory.descendants("all"):
        members = [name for name in group.hosts if name in wanted] if group.name != "all" else []
        entry = {key: names for key, names in (("children", list(group.children)), ("hosts", members)) if names}
        if entry:
            document[group.name] = entry
    return document


def as_json(document: dict[str, Any]) -> str:
    """Write the document as Ansible does: sorted, four spaces, dates as texts, vaulted values still encrypted."""
    return json.dumps(_marked(document), indent=4, sort_keys=True, default=_plain, ensure_ascii=False)


def _marked(value: Any) -> Any:
    """Give values that are more than JSON has the form in which Ansible writes them."""
    if isinstance(value, VaultText):
        return {"__ansible_vault": value.envelope}
    if isinstance(value, Verbatim):
        return {"__ansible_unsafe": str(value)}
    if isinstance(value, dict):
        return {str(key): _marked(inner) for key, inner in value.items()}
    return [_marked(inner) for inner in value] if isinstance(value, list) else value


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)
