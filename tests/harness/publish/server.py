"""A real PostgreSQL on a socket of its own, for tests: begun for a module, as another user where this one is root."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

_PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
BIN = next(
    (path.parent for path in map(Path, filter(None, [shutil.which("pg_ctl")]))),
    _PLACES[0] if _PLACES else None,
)
_number = count()


class Server:
    """A server that knows the roles of a test; its databases are made one by one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def url(self, database: str, user: str = "owner") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def connect(self, database: str, user: str = "postgres") -> Any:
        import psycopg

        return psycopg.connect(host=str(self.folder), user=user, dbname=database, autocommit=True)

    def database(self, *options: str) -> str:
        """Make an empty database that the role ``owner`` owns; gives its name."""
        name = f"cards{next(_number)}"
        with closing(self.connect("postgres")) as connection:
            connection.execute(f"CREATE DATABASE {name} OWNER owner {' '.join(options)}")
        return name


def _run(program: str, *words: str) -> None:
    """Run a program of the server; root may not, so the user ``postgres`` or ``nobody`` does."""
    assert BIN is not None
    asked: dict[str, Any] = {}
    if os.geteuid() == 0:
        user = pwd.getpwnam(_other_user())
        asked = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    done = subprocess.run(
        [str(BIN / program), *words], capture_output=True, text=True, cwd="/", check=False, stdin=subprocess.DEVNULL, **asked
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"


def _other_user() -> str:
    known = {each.pw_name for each in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Begin a server; skipped where there is none, or no library for it."""
    pytest.importorskip("psycopg", reason="the extra [postgres] is not installed")
    if BIN is None:
        pytest.skip("no PostgreSQL server is installed (apt-get install postgresql)")
    with running() as found:
        yield found


@contextmanager
def running() -> Iterator[Server]:
    """Let a server of its own run until the block ends."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # a socket's path may be 107 bytes long
    if os.geteuid() == 0:
        shutil.chown(folder, _other_user())
    data = folder / "data"
    settings = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off -c unix_socket_permissions=0777"
    try:
        _run("initdb", "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C")  # fmt: skip
        folder.chmod(0o755)
        _run("pg_ctl", "-D", str(data), "-w", "-l", str(folder / "log"), "-o", settings, "start")
        found = Server(folder)
        try:
            with closing(found.connect("postgres")) as connection:
                connection.execute("CREATE ROLE owner LOGIN")
            yield found
        finally:
            _run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
