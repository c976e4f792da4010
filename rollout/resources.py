"""Where the templates, playbooks and inventories that come with the program are found.

In a checkout they stand at its top, where people read and copy them; in an installed wheel they lie inside the
package.
"""

from pathlib import Path
from typing import Literal

PACKAGE = Path(__file__).parent


def shipped(folder: Literal["templates", "playbooks", "inventories"]) -> Path:
    """Return the folder of that name which came with the program, from the wheel or from the checkout."""
    in_wheel = PACKAGE / "data" / folder
    return in_wheel if in_wheel.is_dir() else PACKAGE.parent / folder
