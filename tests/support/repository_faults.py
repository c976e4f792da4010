"""A package repository that is broken in one way: a file that is gone, a package whose script fails."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from rollout.lab.fleet import Fleet
from rollout.lab.layout import controller_address
from rollout.lab.repository import INDEX, index_of, write_index
from rollout.lab.tools import run


class Handler(SimpleHTTPRequestHandler):
    """Serves the repository, and answers 404 for what is in `gone`."""

    gone: frozenset[str] = frozenset()

    def do_GET(self) -> None:
        """Answer a request."""
        if self.path.rpartition("/")[2].partition("_")[0] in self.gone:
            self.send_error(404)
        else:
            super().do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Say nothing."""


@contextmanager
def served(fleet: Fleet, handler: type[Handler]) -> Iterator[str]:
    """Serve the repository of a fleet over HTTP at the controller's end of its network; give its address."""
    place = (controller_address(fleet.record.subnet), 0)
    with ThreadingHTTPServer(place, partial(handler, directory=str(fleet.place.repository))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{place[0]}:{server.server_port}"
        server.shutdown()


def break_postinst(fleet: Fleet, folder: Path) -> None:
    """Put the newer mariadb-server into the published repository with a script that fails after the unpacking."""
    repository = fleet.place.repository
    new = next(deb for deb in fleet.base.new.glob("mariadb-server_*.deb"))
    run(["dpkg-deb", "--raw-extract", new, folder / "tree"], doing="unpacking")
    script = folder / "tree/DEBIAN/postinst"
    script.write_text(script.read_text().replace("set -e\n", "set -e\necho the script is broken >&2\nexit 1\n", 1))
    (repository / new.name).unlink()  # a link to the file of the base tree, which stays as it is
    words = ["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", folder / "tree", repository / new.name]
    run(words, doing="packing")
    index_of(repository)
    write_index(repository, [repository], codename=fleet.record.distro)
    (repository / INDEX).unlink()


def mend_repository(fleet: Fleet) -> None:
    """Publish the newer release as it was made."""
    for deb in fleet.base.new.glob("mariadb-server_*.deb"):
        (fleet.place.repository / deb.name).unlink(missing_ok=True)
    fleet.publish()
