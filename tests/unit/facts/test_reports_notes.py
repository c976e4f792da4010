"""A public report about an option that looks as if it did something, by its row in the log of reports."""

from probe_output import framed

from rollout.facts.parse import parse_probe


def test_l68_malloc_lib_of_mysqld_safe_is_explained() -> None:
    """It is an option of a wrapper that systemd does not use: said, and nothing concluded from it."""
    facts = parse_probe(
        "db1",
        framed(
            ("sent", "", b"1764500000", 0, ""),
            ("user", "", b"0", 0, ""),
            ("safe-options", "", b"--malloc-lib=jemalloc\n", 0, ""),
        ),
    )
    assert "[mysqld_safe] malloc-lib=jemalloc is without effect: systemd does not use mysqld_safe" in facts.notes
