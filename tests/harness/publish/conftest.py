"""Cards that are ready to be published: a run that is really made, and others like it, sealed anew."""

import json
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

from corpora.model.corpus import Corpus
from harness.card.model import card_hash
from harness.core.canonical import canonical_bytes
from harness.publish.cards import OutgoingCard, outgoing_run
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from tests.harness.ranked import play, ranked_corpus

WORDS = "the test's own sentences"


def made_card(folder: Path, corpus: Corpus | None = None, right: int = 6) -> OutgoingCard:
    """The card of a run over open entries."""
    path = folder / "rosetta.sqlite"
    run = play(path, corpus or ranked_corpus(10), right, "model-one", cost=0.001)
    with closing(open_store(path)) as store:
        return outgoing_run(store, find_run(store, run), WORDS)


def changed(card: OutgoingCard, **fields: Any) -> OutgoingCard:
    """A card with other fields, sealed anew."""
    told = {**json.loads(card.data), **fields}
    told["run_card_hash"] = card_hash(told)
    return OutgoingCard(canonical_bytes(told), card.may_publish)


def several(card: OutgoingCard, count: int) -> list[OutgoingCard]:
    """Cards that differ in their run's id."""
    return [changed(card, run_id=f"{n:08d}-0000-4000-8000-000000000000") for n in range(count)]


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> OutgoingCard:
    return made_card(tmp_path_factory.mktemp("run"))


_PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
BIN = next((path.parent for path in map(Path, filter(None, [shutil.which("pg_ctl")]))), _PLACES[0] if _PLACES else None)
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
        _run("initdb", "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C")
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
