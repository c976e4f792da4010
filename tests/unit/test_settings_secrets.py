"""What of the settings is secret."""

import pytest

from rollout.settings import SecretSource, Settings

SOURCES = [name for name, field in Settings.model_fields.items() if field.annotation == SecretSource | None]


def test_there_are_sources_of_secrets() -> None:
    """The login, sudo and the database may each have one."""
    assert set(SOURCES) >= {"password_from", "become_password_from", "database_password_from"}


@pytest.mark.parametrize("name", SOURCES)
def test_the_variable_of_every_secret_is_known(name: str) -> None:
    """A source that is added to the settings is kept from hooks without another word."""
    settings = Settings.model_validate({name: {"env": f"TEST_{name}"}})
    assert settings.secret_variables == {f"TEST_{name}"}


def test_a_command_names_no_variable() -> None:
    """Programs that print a password leave nothing in the environment."""
    assert Settings(password_from=SecretSource(command=("pass", "db"))).secret_variables == frozenset()
