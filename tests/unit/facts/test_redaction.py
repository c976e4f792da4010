"""Secrets leave a probe's output before anything else reads it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probe_output import framed

from rollout.facts.frame import parse_frames
from rollout.facts.redaction import without_secrets
from rollout.resources import shipped

PLANTED = "s3cr3t-Wert"


@pytest.mark.parametrize(
    "text",
    [
        f"report_password\t{PLANTED}",
        f"wsrep_sst_auth\tbackup:{PLANTED}",
        f"hashicorp_key_management_token\t{PLANTED}",
        f'Environment="BACKUP_PASSWORD={PLANTED}"',
        f"Environment=AWS_SECRET_ACCESS_KEY={PLANTED} TZ=UTC",
        f"ExecStart={{ path=/x ; argv[]=/x --password={PLANTED} --port=3306 ; }}",
        f"api_key: '{PLANTED} with blanks'",
        f"[ERROR] CHANGE MASTER TO MASTER_HOST='a', MASTER_PASSWORD='{PLANTED}'",
        f"CREATE USER x IDENTIFIED BY '{PLANTED}'",
        f"CREATE USER x IDENTIFIED VIA mysql_native_password USING '{PLANTED}'",
        f"500 https://user:{PLANTED}@deb.example/repo ./ Packages",
        f"500 https://dlm.mariadb.com/{PLANTED}/mariadb-enterprise-server/11.8/deb jammy/main amd64 Packages",
    ],
)
def test_a_secret_is_hidden(text: str) -> None:
    """The value goes, the name stays, in every form in which hosts write such things."""
    cleaned = without_secrets(f"before\n{text}\nafter\n".encode()).decode()
    assert PLANTED not in cleaned
    assert "***" in cleaned
    assert cleaned.startswith("before\n")
    assert cleaned.endswith("\nafter\n")


@pytest.mark.parametrize(
    "text",
    [
        "old_passwords\tOFF",
        "strict_password_validation\tON",
        "passwd\tamd64\t1:4.13+dfsg1-1\tinstall ok installed\tshadow\tpasswd",
        "Access denied for user 'a'@'b' (using password: NO)",
        "500 http://deb.example.org/debian bookworm/main amd64 Packages",
        "report_password\t",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    """Settings that only sound like secrets, and the package passwd, are facts like others."""
    assert without_secrets(text.encode()) == text.encode()


@given(st.lists(st.sampled_from(["password=x", "token: y", "a\tb", "secret\tz", "://u:p@h/", "\n", "'"]), max_size=12))
def test_the_frame_stays_whole(words: list[str]) -> None:
    """Hiding never eats a frame, so no answer gets lost or joined with the next."""
    raw = framed(("one", "", " ".join(words).encode(), 0, ""), ("two", "", b"x", 0, ""))
    assert [row.name for row in parse_frames(without_secrets(raw)).rows] == ["one", "two"]


def test_the_recorded_fleet_holds_no_password() -> None:
    """The replica of the example was set up with a password, which stands in no file of it."""
    for file in (shipped("inventories") / "example").rglob("*"):
        assert file.is_dir() or b"cpw4example" not in file.read_bytes()
