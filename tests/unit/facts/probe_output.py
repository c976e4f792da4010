"""Output of a probe, framed as the script frames it."""

MARK = "--0123456789abcdef"


def framed(*answers: tuple[str, str, bytes, int, str]) -> bytes:
    """Frame answers as the script does."""
    rows = [f"rollout-probe 1 {MARK}\n".encode()]
    for name, argument, output, status, complaint in answers:
        rows.append(f"{MARK} begin {name} {argument}\n".encode() + output)
        rows.append(f"\n{MARK} err {status}\n{complaint}\n{MARK} end\n".encode())
    return b"".join([*rows, f"{MARK} end-of-probe\n".encode()])
