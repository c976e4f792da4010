"""The doors that several hosts go through: bastions that are shared, and how many may log in at one at a time.

An sshd turns logins away when more than a few are on their way in (MaxStartups, 10 by default), and through one
bastion all hosts of a fleet count against it. So a bastion is logged in to once and its connection is shared, and at
one and the same sshd only a few logins are on their way at a time.
"""

import threading
import time
from collections import defaultdict
from dataclasses import dataclass

import fabric
import paramiko

from rollout.errors import Unreachable
from rollout.remote.pulse import Pulse
from rollout.remote.ssh_config import Hop, Route, route_to
from rollout.remote.ssh_login import LoginSecrets, log_in
from rollout.settings import Host

LOGINS_AT_ONCE = 4
NO_SECRETS = LoginSecrets()  # a bastion is opened with keys: the host's password is not shown to it


@dataclass
class Login:
    """An open connection to the last hop of `route`. `users` counts those who go through it."""

    route: Route
    connection: fabric.Connection
    pulse: Pulse
    users: int = 1

    @property
    def transport(self) -> paramiko.Transport:
        """The transport that channels are opened on."""
        transport: paramiko.Transport = self.connection.transport
        return transport

    @property
    def alive(self) -> bool:
        """Whether the connection was not found dead so far."""
        return self.transport.is_active()

    def close(self) -> None:
        """End the connection and the watch over it."""
        self.pulse.stop()
        self.connection.client.close()


class Doors:
    """What the connections of one process share. All methods may be called from any thread."""

    def __init__(self, logins_at_once: int = LOGINS_AT_ONCE) -> None:
        self._lock = threading.Lock()
        self._entrances: defaultdict[str, threading.Semaphore] = defaultdict(
            lambda: threading.Semaphore(logins_at_once)
        )
        self._bastion_locks: defaultdict[Route, threading.Lock] = defaultdict(threading.Lock)
        self._bastions: dict[Route, Login] = {}
        self._failures: dict[Route, tuple[float, Unreachable]] = {}

    def enter(self, host: Host) -> Login:
        """Log in to `host` through all its hops. Raises `Unreachable` and `UsageProblem`."""
        route = route_to(host)
        try:
            return self._after(route, LoginSecrets(host.connection.password, host.connection.private_key_passphrase))
        except Unreachable as fault:
            if fault.host == host.name:
                raise
            raise Unreachable(host.name, f"on the way to it: {fault.message}", hint=fault.hint) from fault

    def leave(self, login: Login) -> None:
        """Close what `enter` gave, and the hops before it that nobody uses any more."""
        login.close()
        self._let_go(login.route[:-1])

    def _after(self, route: Route, secrets: LoginSecrets = NO_SECRETS) -> Login:
        """Log in to the last hop of `route` through the hops before it."""
        before = self._bastion(route[:-1]) if route[:-1] else None
        try:
            return self._logged_in(route, before, secrets)
        except BaseException:  # whatever kept us out, also an interrupt: we do not use the bastion any more
            self._let_go(route[:-1])
            raise

    def _logged_in(self, route: Route, before: Login | None, secrets: LoginSecrets) -> Login:
        """Log in to the last hop of `route`, when there is room at its entrance."""
        with self._lock:
            entrance = self._entrances[_entrance(route[-1])]
        with entrance:
            connection = log_in(route[-1], before.connection if before else None, secrets)
        return Login(route, connection, Pulse(connection.transport))

    def _bastion(self, route: Route) -> Login:
        """Return the shared connection to the last hop of `route`, made by the first who comes."""
        arrived = time.monotonic()
        with self._lock:
            one_at_a_time = self._bastion_locks[route]
        with one_at_a_time:
            failed_at, failure = self._failures.get(route, (0.0, None))
            if failure and failed_at > arrived:  # whoever waited behind a failed login fails with it, not after it
                raise failure
            known = self._bastions.get(route)
            if known and known.alive:
                known.users += 1
                return known
            try:
                login = self._after(route)
            except Unreachable as fault:
                self._failures[route] = (time.monotonic(), fault)
                raise
            if known:  # it died; those who went through it still have to let it go
                login.users += known.users
                known.close()
                self._let_go(route[:-1])
            self._bastions[route] = login
            return login

    def _let_go(self, route: Route) -> None:
        """Count one user of a bastion less, and close it after the last one."""
        if not route:
            return
        with self._lock:
            one_at_a_time = self._bastion_locks[route]
        with one_at_a_time:
            login = self._bastions[route]
            login.users -= 1
            if login.users:
                return
            del self._bastions[route]
            login.close()
        self._let_go(route[:-1])


def _entrance(hop: Hop) -> str:
    """Name what logins have to share: the sshd, or the unknown door behind a proxy command."""
    return "a proxy command" if hop.proxy_command else hop.place


DOORS = Doors()  # the one for the program; a test makes its own
