"""The script of one look at a host: the shipped text with this probe's own parameters in front."""

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote

from rollout.settings import Secret, Settings

FIRST_LINE = "# rollout probe"
PARTS = Path(__file__).with_name("script")
SECONDS_ALLOWED = 120.0
SECONDS_ALLOWED_REFRESHING = 300.0


@dataclass(frozen=True)
class ProbeRequest:
    """What one probe is asked for. `mark` is random: it frames the answers, and nothing on the host can know it.

    `login` is the text of an option file for the database; it lies on the host while the probe runs, for root only.
    `refresh` fetches the package lists anew into a private directory, `deep` adds what costs more. `refusal` is what
    the host said when it was asked for root before and did not grant it.
    """

    unit: str = ""
    defaults_file: str = ""
    login: Secret | None = None
    backup_directory: str = ""
    monitoring_paths: tuple[str, ...] = ()
    refresh: bool = False
    deep: bool = False
    refusal: str = ""
    mark: str = field(default_factory=lambda: f"--{secrets.token_hex(16)}")
    sent_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def timeout_seconds(self) -> float:
        """How long the whole probe may take."""
        return SECONDS_ALLOWED_REFRESHING if self.refresh or self.deep else SECONDS_ALLOWED


def request_for(settings: Settings, *, refresh: bool = False, deep: bool = False) -> ProbeRequest:
    """Take what a host's settings say about its unit, its database login and its backup directory."""
    return ProbeRequest(
        unit=settings.unit,
        defaults_file=settings.defaults_file,
        backup_directory=settings.backup_directory,
        monitoring_paths=settings.monitoring_paths,
        refresh=refresh,
        deep=deep,
    )


def probe_script(request: ProbeRequest) -> str:
    """Return the one script that the probe runs; everything from the inventory is quoted on its way in."""
    parameters = {
        "mark": request.mark,
        "sent_at": f"{request.sent_at.timestamp():.6f}",
        "unit": request.unit,
        "defaults_file": request.defaults_file,
        "login": request.login.reveal() if request.login else "",
        "backup_directory": request.backup_directory,
        "monitoring_paths": "\n".join(request.monitoring_paths),
        "refresh": "1" if request.refresh else "0",
        "deep": "1" if request.deep else "0",
        "refusal": request.refusal,
    }
    assignments = "".join(f"{name}={quote(value)}\n" for name, value in parameters.items())
    parts = sorted(PARTS.glob("*.sh"))
    return "\n".join([f"{FIRST_LINE}\n{assignments}", *(part.read_text() for part in parts)])
