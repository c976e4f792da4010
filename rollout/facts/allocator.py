"""Which malloc the server uses, from independent witnesses: its own word, its maps, and all who asked for a preload."""

import re
from functools import partial

from rollout.facts.database import Database
from rollout.facts.frame import Answers, assignments, lines, read
from rollout.facts.model import Allocator, Library, MappedLibrary, Preload, Unit
from rollout.facts.units import preloads_of
from rollout.facts.unknown import Known, Unknown, known_or

_ALLOCATORS = re.compile(r"/lib(?:jemalloc|tcmalloc|mimalloc|hoard|tbbmalloc)[^/]*$")
# ELF header, e_machine (elf.h); 20 bytes are enough for it, class and byte order.
_MACHINES = {3: "i386", 0x15: "ppc64", 0x16: "s390x", 0x28: "arm", 0x3E: "x86_64", 0xB7: "aarch64", 0xF3: "riscv64"}


def parse_allocator(answers: Answers, database: Database, unit: Known[Unit | None], *, down: bool) -> Allocator:
    """Read the allocator's facts; `down` means that the server is known not to run."""
    stopped = "the server does not run"
    environ = read(answers.text("environ", otherwise=stopped), lambda text: assignments(lines(text)))
    return Allocator(
        version_malloc_library=None if down else _version_malloc_library(database),
        mapped=() if down else read(answers.text("maps", otherwise=stopped), parse_maps),
        environ_preload=None if down else read(environ, lambda pairs: pairs.get("LD_PRELOAD")),
        environ_malloc_conf=None if down else read(environ, lambda pairs: pairs.get("MALLOC_CONF")),
        preloads=_preloads(answers, unit),
        libraries=_libraries(answers),
        server_elf_machine=read(answers.text("server-elf", otherwise="no server's file"), lambda text: elf(text)[0]),
        selinux_domain=_domain(answers, down=down),
    )


def _version_malloc_library(database: Database) -> Known[str | None]:
    return read(database.pairs("variables"), lambda fields: fields.get("version_malloc_library") or None)


def parse_maps(text: str) -> tuple[MappedLibrary, ...]:
    """Return the allocator libraries among a process's mapped files; a file that was replaced reads `(deleted)`.

    Raises ValueError on an empty text: a process has always something mapped, so nobody was allowed to look.
    """
    if not text.strip():
        raise ValueError("a process without any mapped file: it may not be looked at")
    found = {}
    for row in lines(text):
        path = row.split(maxsplit=5)[5].rstrip()
        plain = path.removesuffix(" (deleted)")
        if is_allocator(plain):
            found[path] = MappedLibrary(plain, deleted=plain != path)
    return tuple(found.values())


def is_allocator(library: str) -> bool:
    """Tell by its name whether a library, as LD_PRELOAD or a map names it, is an allocator."""
    return bool(_ALLOCATORS.search(f"/{library}"))


def named_in(preload: str) -> list[str]:
    """Return the libraries that a value of LD_PRELOAD names, parted by blanks or colons (ld.so(8)); [""] for none."""
    return re.split(r"[\s:]+", preload.strip())


def elf(text: str) -> tuple[str, int]:
    """Read the first 20 bytes of an ELF file, in hexadecimal: machine and class (32 or 64)."""
    header = bytes.fromhex(text)
    if header[:4] != b"\x7fELF" or len(header) < 20:
        raise ValueError("this is no ELF file")
    machine = int.from_bytes(header[18:20], "little" if header[5] == 1 else "big")
    return _MACHINES.get(machine, f"machine {machine}"), 64 if header[4] == 2 else 32


def _libraries(answers: Answers) -> Known[tuple[Library, ...]]:
    """Return the shared libraries of the jemalloc packages that are installed; one that is no ELF file is left out."""
    found: list[Library] = []
    for answer in answers.all("library-files"):
        libraries = read(answer.text, partial(parse_libraries, answer.argument.partition(":")[0]))
        if isinstance(libraries, Unknown):
            return libraries
        found += libraries
    return tuple(found)


def parse_libraries(package: str, text: str) -> tuple[Library, ...]:
    """Read rows of path, real path and the first bytes of each shared library of a package."""
    found = []
    for row in lines(text):
        path, real_path, header = row.split("\t")
        kind = read(header, elf)
        if not isinstance(kind, Unknown):
            found.append(Library(package, path, real_path, *kind))
    return tuple(found)


def _domain(answers: Answers, *, down: bool) -> Known[str | None]:
    """Return the process's security context; None where the kernel has no such module (reading is then refused)."""
    answer = answers.first("domain")
    if down or (answer is not None and answer.status and "Invalid argument" in answer.complaint):
        return None
    return read(answers.text("domain", otherwise="the server does not run"), lambda text: text.strip("\0\n ") or None)


def _preloads(answers: Answers, unit: Known[Unit | None]) -> Known[tuple[Preload, ...]]:
    """Gather every LD_PRELOAD that reaches the service, from the weakest source to the strongest.

    Unknown as soon as one source could not be read: a list that may lack the one that wins is no list.
    """
    if isinstance(unit, Unknown):
        return unit
    found = list(_lines_of(answers, "manager-environment"))
    for file in (unit.fragment, *unit.drop_ins) if unit else ():
        if file.path and isinstance(file.content, Unknown):
            return file.content
        content = file.path, known_or(file.content, "")
        asked = read(content, lambda pair: preloads_of(*pair))
        if isinstance(asked, Unknown):
            return asked
        found += asked
    for extra in unit.environment_files if unit else ():
        if isinstance(extra.preload, Unknown):
            return extra.preload
        if extra.preload is not None:
            found.append(Preload(extra.path, extra.preload))
    everywhere = answers.text("ld-so-preload")
    if isinstance(everywhere, Unknown):
        return everywhere
    if everywhere.strip() not in ("", "absent"):
        found.append(Preload("/etc/ld.so.preload", " ".join(everywhere.split())))
    return tuple(found)


def _lines_of(answers: Answers, name: str) -> tuple[Preload, ...]:
    pairs = assignments(lines(known_or(answers.text(name), "")))
    return (Preload("the manager's environment", pairs["LD_PRELOAD"]),) if "LD_PRELOAD" in pairs else ()
