"""A private PostgreSQL server for the tests of one process, and an empty schema in it for each test."""

import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg

_numbers = itertools.count()


class Server:
    """``bin``: the folder with ``initdb`` and ``pg_ctl``. It listens on a Unix socket only."""

    def __init__(self, bin_: Path, home: Path) -> None:
        self.bin, self.home = bin_, home
        self.user = _unprivileged() if os.geteuid() == 0 else None
        if self.user is not None:
            os.chown(home, *self.user)
        self._run("initdb", "-U", "cohabit", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")

    def _run(self, program: str, *args: str) -> None:
        ids = {} if self.user is None else {"user": self.user[0], "group": self.user[1], "extra_groups": []}
        done = subprocess.run(
            [self.bin / program, "-D", self.home / "data", *args], cwd=self.home, capture_output=True, text=True,
            env={"HOME": str(self.home), "LC_ALL": "C", "PATH": os.environ["PATH"]}, check=False, **ids,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        options = f"-c listen_addresses= -c unix_socket_directories={self.home} -c fsync=off"
        # Without a file for its output, the server keeps the pipe open.
        self._run("pg_ctl", "-w", "-l", str(self.home / "log"), "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-m", mode, "stop")

    def url(self, schema: str = "", database: str = "postgres") -> str:
        path = f"?options={quote(f'-csearch_path={schema}')}" if schema else ""
        return f"postgresql://cohabit@{quote(str(self.home), safe='')}/{database}{path}"

    def new_database(self) -> str:
        """The address of an empty database. It takes longer than a schema."""
        name = f"d{next(_numbers)}"
        with psycopg.connect(self.url(), autocommit=True) as db:
            db.execute(f"create database {name}")
        return self.url(database=name)

    def new_schema(self) -> str:
        """The address of an empty schema."""
        name = f"s{next(_numbers)}"
        with psycopg.connect(self.url(), autocommit=True) as db:
            db.execute(f"create schema {name}")
        return self.url(name)


def _unprivileged() -> tuple[int, int]:
    """PostgreSQL refuses to run as root."""
    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return found.pw_uid, found.pw_gid
    raise AssertionError("there is no user to run PostgreSQL as")


@contextmanager
def running(bin_: Path) -> Iterator[Server]:
    home = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # short: it is part of the path of a socket
    try:
        server = Server(bin_, home)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)
