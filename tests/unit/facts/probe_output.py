"""Output of a probe, framed as the script frames it."""

from rollout.facts.frame import Answers, parse_frames

MARK = "--0123456789abcdef"


def framed(*answers: tuple[str, str, bytes, int, str]) -> bytes:
    """Frame answers as the script does."""
    rows = [f"rollout-probe 1 {MARK}\n".encode()]
    for name, argument, output, status, complaint in answers:
        rows.append(f"{MARK} begin {name} {argument}\n".encode() + output)
        rows.append(f"\n{MARK} err {status}\n{complaint}\n{MARK} end\n".encode())
    return b"".join([*rows, f"{MARK} end-of-probe\n".encode()])


def told(*rows: tuple[str, str, bytes, int, str], **tables: str) -> Answers:
    """Frame answers; `tables` are what the database printed, by question, after a good login."""
    database = "".join(f"{MARK} query\n{name}\n{table}" for name, table in tables.items()).encode()
    login = (("login", "", b"socket", 0, ""), ("database", "", database, 0, "")) if tables else ()
    return parse_frames(framed(*rows, *login))
