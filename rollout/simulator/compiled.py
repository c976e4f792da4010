"""How a kernel is compiled: without the interpreter's lock, cached on disk where the disk allows it.

numba stamps a cached kernel with its own file only, yet a kernel holds the code of every kernel that it calls. So
the cache lives in a folder named after the digest of all files with kernels: a change of any of them starts afresh.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba import config as numba_config
from numba import njit
from numba.core import cgutils as untyped_cgutils
from numba.core import types
from numba.extending import intrinsic

config: Any = numba_config
cgutils: Any = untyped_cgutils
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# How many accesses ahead a page's state is asked for, so that it is in the processor's cache when its turn comes.
AHEAD = 12


def compiled(kernel: Kernel) -> Kernel:
    """Compile `kernel` on its first call; where no cache can be written it is compiled anew in each process.

    A kernel allocates nothing, so numba's counting of references is left out: it costs more than the work.
    """
    return _compile(kernel, inline=False)


def inlined(kernel: Kernel) -> Kernel:
    """Compile `kernel` into each of its callers: for what happens at every access."""
    return _compile(kernel, inline=True)


def _compile(kernel: Kernel, *, inline: bool) -> Kernel:
    options: dict[str, Any] = {"nogil": True, "_nrt": False, "forceinline": inline, "error_model": "numpy"}
    if CACHE_FOLDER is None:
        return cast(Kernel, njit(**options)(kernel))
    with _cache_in(CACHE_FOLDER):
        return cast(Kernel, njit(cache=True, **options)(kernel))


def cache_folder() -> Path | None:
    """Return the first folder that can be written: the user's choice, beside the code, the user's cache; or None."""
    name = "kernels-" + _digest(Path(__file__).parent)
    chosen = [Path(config.CACHE_DIR)] if config.CACHE_DIR else []
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - "~" stays when unknown
    beside = Path(__file__).parent / "__pycache__"
    return next((place / name for place in (*chosen, beside, Path(home) / "rollout") if _can_write(place / name)), None)


@contextmanager
def _cache_in(folder: Path) -> Iterator[None]:
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before


def _digest(folder: Path) -> str:
    """Digest the files of `folder` that hold kernels or what these refer to, in the order of their names."""
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.py")):
        text = file.read_bytes()
        if file.stem in ("compiled", "state") or b"simulator.compiled import" in text:
            digest.update(text)
    return digest.hexdigest()[:16]


def _can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@intrinsic
def _prefetch(_context: Any, array: Any, index: Any) -> Any:
    """Emit LLVM's prefetch of one element for writing; it never faults and changes nothing but the cache."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type, index_type = signature.args
        view = context.make_array(array_type)(context, builder, arguments[0])
        where = context.cast(builder, arguments[1], index_type, types.intp)
        element = cgutils.get_item_pointer(context, builder, array_type, view, [where], wraparound=False)
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        shape = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0")
        builder.call(function, [builder.bitcast(element, byte), word(1), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, index), emit


def _no_prefetch(_array: Any, _index: Any) -> None:
    """Stand in for `prefetch` where numba is told not to compile: there is no cache to fill."""


prefetch: Any = _no_prefetch if config.DISABLE_JIT else _prefetch
CACHE_FOLDER = cache_folder()
