"""`rosetta publish`, `--submit` and `leaderboard --from`: what leaves, what does not, and what is made of it again."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.endpoint import offline
from harness.endpoint.endpoints import set_key
from harness.publish.place import DatabasePlace, PublishError, place_of
from harness.settings import read_settings
from harness.store.run_list import list_runs
from harness.store.sqlite.database import open_store
from rosetta_tui.commands import rosetta
from tests.harness.publish.conftest import Server, server
from tests.harness.release.made import CANARY, hidden, outputs
from tests.keyring_in_memory import MemoryKeyring, memory_keyring
from tests.tui.commands.command_line import CopyOf, Rosetta

__all__ = ["server"]

ENVELOPE = {"id": "made", "language_pair": "EN→EO", "source_language": "en", "target_language": "eo"}
PAIRS = [("Hello", "Saluton"), ("A dog", "Hundo"), ("Two cats", "Du katoj")]


def corpus(folder: Path, name: str, **fields: Any) -> Path:
    rows = [{"id": n, "source": f"{s} ({name})", "reference": r, "segment": "development"} for n, (s, r) in enumerate(PAIRS)]  # fmt: skip
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"dataset": {**ENVELOPE, "id": name, **fields}, "entries": rows}), "utf-8")
    return path


def finished(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Two runs over an open corpus, one over a corpus without terms, one for an address, and one over hidden entries."""
    home = folder / "home"
    home.mkdir()
    for lines in ("Saluton\nHundo\nDua kato\n", "Salut\nHunda\nKatoj\n"):
        (home / f"{len(lines)}.txt").write_text(lines, "utf-8")
    open_, silent = corpus(home, "open", transmission="open"), corpus(home, "silent")
    named = corpus(home, "named", transmission=["https://llm.example.org"])
    entries = hidden(20)
    rows = [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in entries]
    (home / "hid.json").write_text(json.dumps({"dataset": {**ENVELOPE, "id": "hid"}, "entries": rows}), "utf-8")
    (home / "hid.txt").write_text("".join(f"{each}\n" for each in outputs(entries, 0.6)), "utf-8")
    patch.setenv("ROSETTA_HOME", str(home))
    first, second = sorted(home.glob("[0-9]*.txt"))
    for file, out in ((open_, first), (open_, second), (silent, first), (named, first), (home / "hid.json", home / "hid.txt")):  # fmt: skip
        done = called("score", file, out, "--metrics", "chrf,exact")
        assert done.exit_code == 0, done.output


@pytest.fixture
def home(copy_of: CopyOf) -> Path:
    return copy_of("finished", finished) / "home"


def called(*words: object) -> Any:
    return CliRunner().invoke(rosetta, [str(each) for each in words])


def runs(home: Path) -> dict[str, list[str]]:
    """Corpus → ids of its runs, the first first."""
    with closing(open_store(home / "rosetta.sqlite")) as store:
        found: dict[str, list[str]] = {}
        for each in reversed(list_runs(store)):
            found.setdefault(each.dataset_id, []).append(each.run_id)
        return found


def lists(done: Any) -> Any:
    """Return the lists that were printed, without what is stated elsewhere only."""
    boards = json.loads(done.stdout)
    for row in (row for board in boards for row in board["runs"]):
        row["stated"] = None
    return boards


def tree(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_publish_to_a_folder_and_its_lists(home: Path) -> None:
    folder = home / "published"
    folder.mkdir()
    (folder / "README.md").write_text("mine", "utf-8")
    done = called("publish", *runs(home)["open"], "--to", folder)
    assert done.exit_code == 0, done.output
    before = tree(folder)
    names = {name for name in before if name.endswith(".json")}
    for name in names:
        assert json.loads(before[name])["run_card_hash"] == name.removesuffix(".json")
    lines = [json.loads(line) for line in before["index.jsonl"].splitlines()]
    assert [f"{each['card_hash']}.json" for each in lines] == sorted(names)
    assert before.keys() == {*names, "index.jsonl", "README.md"}
    assert len(names) == 2
    again = called("publish", *runs(home)["open"], "--to", folder)
    assert "0 new cards, 2 there already" in again.output
    assert tree(folder) == before
    own = called("leaderboard", "--dataset", "open", "--json")
    shared = called("leaderboard", "--from", folder, "--json")
    assert "2 published cards, of which 2 verified" in shared.stderr
    assert lists(shared) == lists(own)
    assert len(lists(shared)[0]["runs"]) == 2
    bad = min(folder.glob("[0-9a-f]*.json"))
    bad.write_bytes(bad.read_bytes().replace(b"Hundo", b"Kundo"))
    shown = called("leaderboard", "--from", folder)
    assert "of which 1 verified" in shown.stderr
    assert "has no rank: its seal does not hold" in shown.stdout
    before = tree(folder)
    done = called("publish", *runs(home)["silent"], "--may-publish", "we", "--to", folder)
    assert f"{bad.name} was changed after it was published" in str(done.exception)
    assert tree(folder) == before


def test_publish_without_terms_needs_a_persons_words(home: Path) -> None:
    [silent], folder = runs(home)["silent"], home / "published"
    done = called("publish", silent, "--to", folder)
    assert "May everybody read the texts" in str(done.exception)
    assert not folder.exists()
    assert called("publish", silent, "--may-publish", "Ann, for us", "--to", folder).exit_code == 0
    assert called("publish", *runs(home)["open"], "--may-publish", "Ann", "--to", folder).exit_code == 0
    lines = [json.loads(each) for each in (folder / "index.jsonl").read_text().splitlines()]
    said = {each["dataset_id"]: each.get("may_publish") for each in lines}
    assert said == {"silent": "Ann, for us", "open": None}


def test_publish_all_passes_over_what_may_not_leave(home: Path) -> None:
    done = called("publish", "--all", "--to", home / "published")
    assert done.exit_code == 0, done.output
    assert "2 new cards" in done.stdout
    for words in ("May everybody read", "https://llm.example.org only", "has secret entries"):
        assert words in done.stderr
    assert CANARY.encode() not in b"".join(tree(home / "published").values())


def test_publish_dry_run_sends_nothing(home: Path) -> None:
    [run, _] = runs(home)["open"]
    done = called("publish", run, "--to", "postgresql://me@db.example.org/cards", "--dry-run", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    [card] = told["cards"]
    assert card["texts"]["results[].source"]["values"] == 3
    assert (told["new"], card["dataset_id"], card["run_id"]) == (0, "open", run)
    called("publish", run, "--to", home / "published", "--dry-run")
    assert not (home / "published").exists()


def test_publish_secret_run_as_released_card_only(home: Path) -> None:
    [run], folder = runs(home)["hid"], home / "published"
    done = called("publish", run, "--to", folder)
    assert "--submitter" in str(done.exception)
    assert not folder.exists()
    assert called("runs", "export", run, "--submitter", "Ann", "-o", "ann.json").exit_code == 0
    assert called("publish", "ann.json", "--to", folder).exit_code == 0
    [card] = folder.glob("[0-9a-f]*.json")
    assert card.read_bytes() == Path("ann.json").read_bytes()
    shown = called("leaderboard", "--from", folder)
    assert "Official: hid, EN→EO, 20 secret entries, signed by the key with the six words" in shown.stdout
    card.write_bytes(card.read_bytes().replace(b'"Ann"', b'"Bob"'))
    shown = called("leaderboard", "--from", folder)
    assert "does not verify" in shown.stderr
    assert "nothing to rank there" in shown.stdout


def test_publish_refuses_other_files(home: Path) -> None:
    called("runs", "export", runs(home)["open"][0], "-o", "card.json", "--unsigned")
    called("runs", "export", runs(home)["hid"][0], "--submitter", "Ann", "-o", "f.json")
    Path("f.json").write_bytes(Path("f.json").read_bytes().replace(b'"Ann"', b'"Bob"'))
    for name, words in (("card.json", "runs import"), ("f.json", "changed after it was signed")):
        assert words in str(called("publish", name, "--to", home / "published").exception)
    assert not (home / "published").exists()


URLS = (
    "mysql://a@b/c", "https://x.supabase.co", "file:///tmp", "postgresql://h/n?service=x", "postgresql://h:x/n",
    "postgresql://[h/n", "postgresql://h/n#a", "postgresql://h\x1b[2J/n", "postgresql://me:12/geheim@h/n",
    "postgresql://h/n?host=/tmp", "postgresql:///n?host=elsewhere",
)  # fmt: skip


def test_publish_refuses_urls_of_something_else(home: Path) -> None:
    for url in URLS:
        done = called("publish", "last", "--to", url)
        assert done.exit_code
        assert "\x1b" not in str(done.exception)
        assert "database" in str(done.exception)


def test_publish_shows_no_password(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = called("publish", "last", "--to", "postgresql://me:geheim@db.example.org/n")
    assert "rosetta key set db.example.org" in str(done.exception)
    monkeypatch.setenv("ROSETTA_PUBLISH", "postgresql://me:geheim%40@127.0.0.1:1/n")
    failed = called("publish", runs(home)["open"][0])
    assert "postgresql://me@127.0.0.1:1/n cannot be reached" in str(failed.exception)
    dry = called("publish", runs(home)["open"][0], "--dry-run")
    for each in (done, failed, dry):
        assert "geheim" not in f"{each.output}{each.exception!r}"
    found = place_of("postgresql://me:geheim%40@h/n")
    assert isinstance(found, DatabasePlace)
    assert "geheim" not in f"{found} {found!r}"
    assert found.hidden('for "geheim@" or geheim%40\x1b') == 'for "…" or …␛'


def test_publish_place_has_password_and_certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGSSLMODE", raising=False)
    (tmp_path / "ca.pem").touch()
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    found = place_of("postgresql://me@db.example.org/cards")
    assert isinstance(found, DatabasePlace)
    assert found.parameters["sslmode"] == "verify-full"
    assert found.parameters["sslrootcert"] == str(tmp_path / "ca.pem")
    asked = place_of("postgresql://me@db.example.org/cards?sslmode=require")
    assert isinstance(asked, DatabasePlace)
    assert asked.parameters["sslmode"] == "require"
    with memory_keyring() as ring:
        assert isinstance(ring, MemoryKeyring)
        set_key("db.example.org", "geheim")
        assert found.found_password() == "geheim"
        assert found.hidden("geheim") == "…"
        monkeypatch.setenv("PGPASSWORD", "other")
        assert found.found_password() is None
    assert place_of("~/cards") == Path("~/cards").expanduser()


def test_publish_after_secret_texts_reaches_nobody() -> None:
    found = place_of("postgresql://me@db.example.org/cards")
    assert isinstance(found, DatabasePlace)
    found.require_open_door()
    offline.shut(offline.SECRET)
    with pytest.raises(PublishError, match="Secret entries were opened"):
        found.require_open_door()


def test_publish_needs_a_run_and_a_place(home: Path) -> None:
    assert "settings.toml" in str(called("publish", "last").exception)
    for words in (["publish", "--to", home / "x"], ["publish", "last", "--all", "--to", home / "x"], ["publish", "last", "--may-publish", " "]):  # fmt: skip
        assert called(*words).exit_code == 2
    assert "--prepare goes with a database" in str(called("publish", "--prepare", "--to", home / "x").exception)


def test_submit_publishes_where_the_settings_say(home: Path) -> None:
    (home / "settings.toml").write_text(f'publish = "{home}/published"\n', "utf-8")
    assert read_settings(home).publish == f"{home}/published"
    done = called("score", home / "open.json", next(iter(home.glob("[0-9]*.txt"))), "--submit")
    assert done.exit_code == 0, done.output
    assert "1 new card" in done.stderr
    assert len(list((home / "published").glob("[0-9a-f]*.json"))) == 1


def test_submit_that_fails_keeps_the_run(home: Path) -> None:
    (home / "settings.toml").write_text('publish = "postgresql://me@127.0.0.1:1/n"\n', "utf-8")
    before = runs(home)["open"]
    done = called("run", home / "open.json", "--method", "copy-source", "--plain", "--submit")
    assert done.exit_code == 1, done.output
    assert "The run is finished and kept, but not published" in done.stderr
    after = runs(home)["open"]
    assert len(after) == len(before) + 1
    assert called("publish", after[-1], "--to", home / "p").exit_code == 0


def test_submit_refuses_before_the_run(home: Path) -> None:
    before, place = runs(home), "postgresql://me@127.0.0.1:1/n"
    for file, to, words in (
        ("open", "", "Say where to"),
        ("silent", place, "May everybody read"),
        ("named", place, "texts that go to"),
        ("hid", place, "released card only"),
        ("open", "postgresql://me:geheim@127.0.0.1:1/n", "without a password"),
    ):
        (home / "settings.toml").write_text(f'publish = "{to}"\n' if to else "", "utf-8")
        done = called("run", home / f"{file}.json", "--method", "copy-source", "--plain", "--submit")
        assert done.exit_code
        assert words in str(done.exception)
        assert "geheim" not in str(done.exception)
    assert runs(home) == before


WITHOUT = "import sys\nsys.modules['psycopg'] = None\nfrom rosetta_tui.cli import main\nmain(sys.argv[1].split())"


@pytest.mark.costly("three processes without a module")
def test_publish_to_a_folder_needs_no_psycopg(home: Path) -> None:
    """A process in which psycopg cannot be imported, as where it is not installed."""
    place, base = home / "published", "postgresql://me@127.0.0.1:1/n"
    for line, code, words in (
        (f"publish {runs(home)['open'][0]} --to {place}", 0, "1 new card"),
        (f"leaderboard --from {base}", 2, "not installed here"),
    ):
        done = subprocess.run(
            [sys.executable, "-P", "-c", WITHOUT, line], env=Rosetta(home).environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, words in done.stdout) == (code, True), done.stdout


def test_publish_to_a_database_and_its_lists(home: Path, server: Server) -> None:
    name = server.database()
    url = server.url(name)
    assert "2 steps made" in called("publish", "--prepare", "--to", url).stdout
    assert "up to date" in called("publish", "--prepare", "--to", url).stdout
    done = called("publish", "--all", "--to", url, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["new"], told["known"]) == (2, 0)
    again = json.loads(called("publish", "--all", "--to", url, "--json").stdout)
    assert (again["new"], again["known"], again["cards"]) == (0, 2, [])
    shared = called("leaderboard", "--from", url, "--json")
    assert lists(shared) == lists(called("leaderboard", "--dataset", "open", "--json"))
    assert "2 published cards, of which 2 verified" in shared.stderr
    called("runs", "export", runs(home)["hid"][0], "--submitter", "Ann", "-o", "ann.json")
    assert called("publish", "ann.json", "--to", url).exit_code == 0
    assert "Official: hid, EN→EO" in called("leaderboard", "--from", url).stdout
    with closing(server.connect(name)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT run_card::text FROM run_cards")
        assert CANARY not in repr(cursor.fetchall())
