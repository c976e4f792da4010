"""Text that a host, a file or an inventory gave us, made safe for a terminal, a log or a message.

A leaf beside `errors.py`, importing nothing of ours, so that every room can use it: a database host that sends escape
sequences must not be able to recolour, overwrite or retitle the operator's terminal.
"""


def printable(said: bytes | str, *, lines: bool = False) -> str:
    r"""Return `said` with everything that is no visible character shown as an escape such as `\x1b` or `\u202e`.

    Bytes are read as UTF-8 and each byte that is none is shown as `\xNN`; nothing is dropped. `lines` keeps newline
    and tab as they are, for text of several lines.
    """
    text = said.decode("utf-8", "backslashreplace") if isinstance(said, bytes) else said
    kept = "\n\t" if lines else ""
    return "".join(
        character if character.isprintable() or character in kept else _escaped(character) for character in text
    )


def _escaped(character: str) -> str:
    """Return the escape of one character, in the notation of Python."""
    number = ord(character)
    if number <= 0xFF:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
