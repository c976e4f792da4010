"""What every transport that runs scripts promises; a test file brings the fixture `transport` and takes this class."""

import hashlib
import os

import pytest

from rollout.errors import CommandFailed, Unreachable
from rollout.remote.transport import Transport

LIMIT_BYTES = 24 * 1024 * 1024  # the limit of output that the transports of the suite are made with


class TransportContract:
    """The promises, one a test."""

    def test_both_streams_and_the_status_are_kept_apart(self, transport: Transport) -> None:
        """Standard output, standard error and the exit status are three things."""
        result = transport.run("printf out; printf err >&2; exit 7")
        assert (result.stdout, result.stderr, result.exit_status, result.ok) == (b"out", b"err", 7, False)

    @pytest.mark.parametrize(("signal", "status"), [("TERM", 143), ("KILL", 137), ("SEGV", 139)])
    def test_a_script_that_a_signal_ended_shows_which(self, transport: Transport, signal: str, status: int) -> None:
        """A signal is 128 and its number, as shells have it."""
        assert transport.run(f"kill -{signal} $$; sleep 5").exit_status == status

    def test_standard_input_reaches_the_script_untouched(self, transport: Transport) -> None:
        """Bytes of every value, and no more than were given, arrive on the script's standard input."""
        data = bytes(range(256)) * 3 + b"\n\nno newline at the end"
        assert transport.run("cat", data).stdout == data

    def test_megabytes_go_in_and_out_at_the_same_time(self, transport: Transport) -> None:
        """Neither a full pipe to the host nor one from it stops the other."""
        data = os.urandom(1024) * 6 * 1024
        result = transport.run("tee /dev/stderr", data)
        assert hashlib.sha256(result.stdout).digest() == hashlib.sha256(data).digest()
        assert result.stderr == result.stdout

    def test_input_that_nobody_reads_does_no_harm(self, transport: Transport) -> None:
        """A script may end without looking at its standard input."""
        assert transport.run("echo done", b"x" * 5_000_000).stdout == b"done\n"

    def test_tens_of_megabytes_come_back(self, transport: Transport) -> None:
        """A long answer is complete."""
        assert len(transport.run("head -c 20000000 /dev/zero").stdout) == 20_000_000

    def test_a_flood_is_cut_at_the_limit(self, transport: Transport) -> None:
        """A host that does not stop writing is cut, and the transport can be used again."""
        with pytest.raises(CommandFailed, match=f"db1: a script wrote more than {LIMIT_BYTES} bytes"):
            transport.run(f"head -c {LIMIT_BYTES * 2} /dev/zero")
        assert transport.run("echo here").stdout == b"here\n"

    def test_a_script_without_an_end_is_unreachable_after_its_time(self, transport: Transport) -> None:
        """The time limit holds, and the transport can be used again."""
        with pytest.raises(Unreachable, match=r"no end within 0\.5 s"):
            transport.run("sleep 4", timeout_seconds=0.5)
        assert transport.run("echo here").stdout == b"here\n"

    def test_the_locale_inside_is_c(self, transport: Transport) -> None:
        """Programs speak English, whatever the host is set to."""
        assert transport.run('printf "%s %s" "$LC_ALL" "$LANGUAGE"').stdout == b"C C"

    def test_quotes_and_backslashes_in_a_script_mean_what_they_mean(self, transport: Transport) -> None:
        """No layer on the way reads the script a second time."""
        script = """a='it'"'"'s'; printf '%s|' "$a" "\\\\" '$HOME' "!x" "`echo t`" '%d' \t"  two" ; # comment '"""
        assert transport.run(script).stdout == b"it's|\\|$HOME|!x|t|%d|  two|"

    def test_a_script_of_many_lines_runs_as_one(self, transport: Transport) -> None:
        """Functions, here-documents and a trap live together in one script."""
        script = "f() {\n  echo one\n}\ntrap 'echo bye' EXIT\nf\ncat <<'E'\ntwo\n  three\nE\nexit 4\n"
        result = transport.run(script)
        assert (result.stdout, result.exit_status) == (b"one\ntwo\n  three\nbye\n", 4)

    def test_a_long_script_is_no_matter_of_argument_limits(self, transport: Transport) -> None:
        """A script larger than one argument may be (128 KiB on Linux) still runs, but for the fake's own shell."""
        script = f"# {'x' * 120_000}\necho end\n"
        assert transport.run(script).stdout == b"end\n"

    def test_a_script_with_a_mistake_runs_not_at_all(self, transport: Transport) -> None:
        """A syntax error is a failed script with a complaint, and none of its lines was run."""
        result = transport.run("if true; then echo half\n")
        assert result.exit_status == 2
        assert result.stdout == b""
        assert b"yntax error" in result.stderr

    def test_what_a_script_leaves_in_the_background_does_not_hold_us(self, transport: Transport) -> None:
        """A process that keeps the streams open does not keep the result away, save where the fake's shell waits."""
        result = transport.run("sleep 3 >/dev/null 2>&1 & echo started", timeout_seconds=2.5)
        assert result.stdout == b"started\n"

    def test_a_nul_in_a_script_is_a_programming_error(self, transport: Transport) -> None:
        """No shell can be given a NUL, and none is left out silently."""
        with pytest.raises(ValueError, match=r"NUL|null byte"):
            transport.run("echo a\0b")

    def test_the_results_of_several_scripts_do_not_mix(self, transport: Transport) -> None:
        """One connection carries one script after another."""
        assert [transport.run(f"echo {n}").stdout for n in range(5)] == [f"{n}\n".encode() for n in range(5)]
