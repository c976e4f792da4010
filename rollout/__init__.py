"""Plan, apply, verify and take back the InnoDB LRU fix and the jemalloc allocator on a fleet of MariaDB hosts."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("rollout")
except PackageNotFoundError:  # a checkout on sys.path that was never installed
    __version__ = "0+checkout"
