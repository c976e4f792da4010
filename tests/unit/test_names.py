"""Test files have names of their own: pytest imports them by their basename, and two of a name end the whole run."""

from collections import Counter
from pathlib import Path


def test_no_two_test_files_share_a_name() -> None:
    """Every basename below tests/ stands once."""
    files = Path(__file__).parents[1].rglob("test_*.py")
    counted = Counter(path.name for path in files)
    assert [name for name, count in counted.items() if count > 1] == []
