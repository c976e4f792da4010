"""Passwords that stand in no file: taken from the controller's environment, or printed by a program of the user's."""

import os
import subprocess
from functools import lru_cache

from rollout.settings import Secret, SecretSource

_SECONDS = 60


class SecretProblem(ValueError):
    """A sentence that says why a password cannot be had. It never holds what a program printed."""


def read_secret(source: SecretSource) -> Secret:
    """Return the password. A program is run once, however many hosts want it. Raises `SecretProblem`."""
    if source.command:
        return _printed(source.command)
    text = os.environ.get(source.env, "")
    if not text:
        raise SecretProblem(f"the environment variable {source.env} is not set or empty")
    return Secret(text)


@lru_cache(maxsize=256)
def _printed(command: tuple[str, ...]) -> Secret:
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=_SECONDS, check=False)
    except OSError as error:
        raise SecretProblem(f"the program {command[0]} cannot be run: {error.strerror}") from error
    except subprocess.TimeoutExpired:
        raise SecretProblem(f"the program {command[0]} printed no password within {_SECONDS} seconds") from None
    text = done.stdout.decode("utf-8", "replace").rstrip("\r\n")
    if done.returncode or not text:
        raise SecretProblem(f"the program {command[0]} ended with exit status {done.returncode} and gave no password")
    return Secret(text)
