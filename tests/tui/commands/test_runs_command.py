"""``rosetta runs`` on real stores, and signed cards: out, in, verified, linted, and one row of them proved."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from click.testing import CliRunner, Result

from corpora.formats.load import load
from corpora.formats.write import write
from corpora.model.corpus import Form
from harness.card.checking.verify_card import seal
from harness.card.model import card_hash
from harness.card.signing import sign_run
from harness.core.failures import KeyStoreError, StoreError, UsageError
from harness.leaderboard.ranking import leaderboards
from harness.sealed.keys import Identity, Role
from harness.store.deletion import delete_run
from harness.store.run_list import list_runs
from harness.vault.vault_records import CardSealed
from rosetta_tui.commands.community import community
from rosetta_tui.commands.run import retry
from rosetta_tui.commands.verify import verify
from rosetta_tui.runs.table import RunRows, run_words
from rosetta_tui.show import run_facts
from tests.corpora.making import file, only_problem
from tests.harness.card import factory
from tests.harness.evaluation import chat_plan, corpus, run_corpus
from tests.harness.lint.made import CANARY, sentence
from tests.harness.scripted import Answer, Asked, completion, error, json_answer, serving
from tests.harness.vault.made import MINE, filled
from tests.tui.commands.command_line import harmless, rosetta_runs, said
from tests.tui.scenes import HOSTILE

HOSTILE_NAME = "\x1b[2J\x9b31m[bold]x[/]\u202e"


def test_runs_list_without_runs_says_what_to_do(connection: sqlite3.Connection) -> None:
    assert "rosetta demo" in rosetta_runs("list").stdout
    assert json.loads(rosetta_runs("list", "--json").stdout) == []


def test_runs_list_says_what_came_out(connection: sqlite3.Connection, number: int) -> None:
    factory.add_run(connection, run_id="0" * 8 + factory.RUN_ID[8:], stored=2)
    lines = rosetta_runs("list").stdout.splitlines()
    assert len(lines) == 3
    sealed = next(line for line in lines if "6f1c3a52" in line)
    assert "small-v1 EN→EO" in sealed
    assert "chat · example/model · zero-shot" in sealed
    assert (
        "baseline (automatic 0.51 on 50 % of its weight; not clear of either floor)  25 % too short, 25 % empty, "
        in sealed
    )
    assert "62.1 (15.6–89.8)" in sealed
    assert "$0.0010" in sealed
    assert "stopped 2/4" in next(line for line in lines if "00000000" in line)
    listed = {run["run_id"]: run for run in json.loads(rosetta_runs("list", "--json").stdout)}
    assert listed[factory.RUN_ID]["composite"] == pytest.approx(0.5104083642481891)
    assert json.loads(rosetta_runs("show", "6f1c", "--json").stdout)["run_id"] == factory.RUN_ID


def test_runs_list_reads_no_card_a_second_time(
    connection: sqlite3.Connection, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it kept of the card says the same as the card, to lists of the app too; another version reads cards again."""
    factory.add_run(connection, run_id="0" * 8 + factory.RUN_ID[8:], stored=2)
    of_cards = run_facts.runs_now(list_runs(connection, brief=True))
    first = rosetta_runs("list").stdout
    kept = run_facts.listed_runs(connection)
    for one, two in zip(of_cards, kept, strict=True):
        assert run_facts.run_line(one) == run_facts.run_line(two)
        assert run_words(one) == run_words(two)
        assert one._replace(card=None) == two._replace(card=None, line=None)
        assert dict(one.card or {}) == dict(two.card or {})
        assert RunRows([one]).record(0) == RunRows([two]).record(0)
    ranked, of_stored_cards = leaderboards(connection), leaderboards(connection, made_by=run_facts.LINES)
    assert [entrant.scores for board in ranked for entrant in board.entrants] != []
    for one_board, two_board in zip(ranked, of_stored_cards, strict=True):
        for one_entrant, two_entrant in zip(one_board.entrants, two_board.entrants, strict=True):
            assert replace(one_entrant, run=two_entrant.run) == two_entrant
            assert one_entrant.run.card == two_entrant.run.card
    connection.execute("UPDATE runs SET run_card = '{}' WHERE id = ?", (number,))
    assert rosetta_runs("list").stdout == first
    assert leaderboards(connection, made_by=run_facts.LINES) == of_stored_cards
    monkeypatch.setattr(run_facts, "LINES", "another")
    assert "62.1 (15.6–89.8)" not in rosetta_runs("list").stdout


def test_runs_list_does_not_wait_to_keep_lines(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    assert "62.1 (15.6–89.8)" in rosetta_runs("list").stdout
    assert connection.execute("SELECT count(*) FROM run_summaries").fetchone() == (0,)
    connection.execute("ROLLBACK")
    rosetta_runs("list")
    assert connection.execute("SELECT run FROM run_summaries").fetchall() == [(number,)]


def test_runs_show_hostile_names_harmless(connection: sqlite3.Connection) -> None:
    setup = factory.SETUP.model_copy(update={"model_slug": HOSTILE_NAME, "condition": HOSTILE_NAME})
    seal(connection, factory.add_run(connection, setup=setup))
    for arguments in (["list"], ["show", "last"], ["list", "--json"], ["show", "last", "--json"]):
        shown = rosetta_runs(*arguments).stdout
        assert "[bold]x[/]" in shown
        assert harmless(shown)
    assert json.loads(rosetta_runs("list", "--json").stdout)[0]["model_slug"] == HOSTILE_NAME
    assert json.loads(rosetta_runs("show", "--json").stdout)["model_slug"] == HOSTILE_NAME


@pytest.mark.usefixtures("number")
def test_runs_export_delete_and_import(connection: sqlite3.Connection, tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    assert rosetta_runs("export", "last", "-o", str(path)).exit_code == 0
    again = rosetta_runs("export", "last", "-o", str(path))
    assert isinstance(again.exception, UsageError)
    assert rosetta_runs("export", "last", "-o", str(path), "--overwrite").exit_code == 0
    assert rosetta_runs("export", "last", "-o", "-").stdout_bytes == path.read_bytes()
    for form, names in (("jsonl", ("x.jsonl", "X.NDJSON")), ("csv", ("card.csv", "x.CSV"))):
        told = rosetta_runs("export", "last", "-o", "-", "--form", form).stdout_bytes
        assert b"Mi vidas la hundon." in told
        for name in names:
            assert rosetta_runs("export", "last", "-o", str(tmp_path / name)).exit_code == 0
            assert (tmp_path / name).read_bytes() == told
    assert isinstance(rosetta_runs("export", "last", "-o", "x.xlsx").exception, UsageError)
    path.unlink()  # its seal is there still
    assert rosetta_runs("export", "last", "-o", str(path)).exit_code == 0
    seal = path.with_suffix(".seal.json")
    for other in (b"{}", b"a list of mine", seal.read_bytes().replace(b'"rows":', b'"rows":1')):
        path.unlink()
        seal.write_bytes(other)
        refused = rosetta_runs("export", "last", "-o", str(path))
        assert isinstance(refused.exception, UsageError)
        assert seal.read_bytes() == other
        assert rosetta_runs("export", "last", "-o", str(path), "--overwrite").exit_code == 0

    assert rosetta_runs("verify", str(path)).exit_code == 0
    assert "Everything holds" in rosetta_runs("verify", "6f1c").stdout
    assert "nothing to do" in rosetta_runs("import", str(path)).stdout

    assert rosetta_runs("delete", "6f1c3a52", "--now", "--yes").exit_code == 0
    assert list_runs(connection) == []
    assert connection.execute("SELECT count(*) FROM results").fetchone() == (0,)
    imported = rosetta_runs("import", str(path))
    assert imported.exit_code == 0
    assert "6f1c3a52 imported" in imported.stdout
    assert "imported" in rosetta_runs("list").stdout
    assert "Everything holds" in rosetta_runs("verify", "last").stdout
    rosetta_runs("delete", "last")
    assert "is back" in rosetta_runs("import", str(path)).stdout
    assert rosetta_runs("show", "last").exit_code == 0


@pytest.mark.usefixtures("number")
def test_runs_verify_names_the_first_difference(connection: sqlite3.Connection, tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    rosetta_runs("export", "last", "-o", str(path))
    card = json.loads(path.read_bytes())
    card["scores"]["chrf_plus_plus"] = 99.0
    path.write_text(json.dumps(card | {"run_card_hash": card_hash(card)}), encoding="utf-8")
    changed = rosetta_runs("verify", str(path), "--json")
    found = json.loads(changed.stdout)["first_difference"]
    assert (changed.exit_code, found["path"]) == (1, "$.scores.chrf_plus_plus")
    connection.execute("UPDATE results SET headline = 99 WHERE position = 3")
    result = rosetta_runs("verify", "last")
    assert result.exit_code == 1
    assert "✗ seal" in result.stdout
    assert "First difference: $.results[3].entry_chrf" in result.stdout
    assert isinstance(rosetta_runs("show", "last").exception, StoreError)


@pytest.mark.usefixtures("number")
def test_runs_import_goes_on_after_a_bad_file(connection: sqlite3.Connection, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad\x1b[2J.json"
    rosetta_runs("export", "last", "-o", str(good))
    rosetta_runs("delete", "last", "--now", "--yes")
    bad.write_bytes(b"[" * 100_000)
    result = rosetta_runs("import", str(bad), str(tmp_path / "absent.json"), str(good))
    assert result.exit_code == 2
    assert "6f1c3a52 imported" in result.stdout
    assert "nested too deeply" in result.stderr
    assert "absent.json cannot be read" in result.stderr
    assert harmless(result.stderr)
    assert len(list_runs(connection)) == 1


@pytest.mark.usefixtures("number")
def test_runs_list_shows_any_time_of_a_card(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    rosetta_runs("export", "last", "-o", str(path))
    card = json.loads(path.read_bytes())
    times = ("0001-01-01T00:00:00+14:00", "no-time", "9999-12-31T23:59:59-14:00")
    for number, each in enumerate(times):
        changed = card | {"timestamp": each, "run_id": f"{number}{factory.RUN_ID[1:]}"}
        path.write_text(json.dumps(changed | {"run_card_hash": card_hash(changed)}), "utf-8")
        assert rosetta_runs("import", str(path)).exit_code == 0, each
    listed = [each for each in rosetta_runs("list").stdout.splitlines() if " imported " in each]
    assert all(line.startswith(("19", "20", "999")) for line in listed), listed
    assert len(listed) == len(times)


@pytest.mark.parametrize("created", [-1.0, 1e18, float("inf")])
@pytest.mark.usefixtures("number")
def test_runs_list_shows_no_date_for_an_impossible_time(connection: sqlite3.Connection, created: float) -> None:
    connection.execute("UPDATE runs SET created = ?", (created,))
    assert rosetta_runs("list").stdout.splitlines()[1].startswith("–")
    assert json.loads(rosetta_runs("list", "--json").stdout)[0]["created"] is None


@pytest.mark.usefixtures("number")
def test_runs_note_and_tags_are_written_and_shown() -> None:
    assert rosetta_runs("note", "last", "two prompts\nsecond line").exit_code == 0
    assert rosetta_runs("note", "last").stdout == "two prompts\nsecond line\n"
    assert "second line" in rosetta_runs("show", "last").stdout
    assert rosetta_runs("note", "last", "-", text="from a pipe\n").exit_code == 0
    assert json.loads(rosetta_runs("list", "--json").stdout)[0]["note"] == "from a pipe"
    rosetta_runs("note", "last", "--remove")
    assert rosetta_runs("note", "last").stdout == ""
    rosetta_runs("note", "6f1c", "--tag", "baseline", "--tag", "#2026-11")
    assert "#2026-11 #baseline" in rosetta_runs("list", "--where", "tag:baseline -chrf>100").stdout
    assert "No run fits" in rosetta_runs("list", "--where", "tag:other").stdout
    assert "did you mean tag?" in str(rosetta_runs("list", "--where", "tagg:x").exception)
    rosetta_runs("note", "6f1c", "--tag", "baseline", "--remove")
    assert json.loads(rosetta_runs("list", "--json").stdout)[0]["tags"] == ["2026-11"]
    assert isinstance(rosetta_runs("note", "6f1c", "--tag", "two words").exception, UsageError)


@pytest.mark.usefixtures("number")
def test_runs_export_has_no_word_of_a_person() -> None:
    before = rosetta_runs("export", "last", "-o", "-").stdout_bytes
    rosetta_runs("note", "last", "my own words")
    rosetta_runs("note", "last", "--tag", "mine")
    assert rosetta_runs("export", "last", "-o", "-").stdout_bytes == before
    assert "Everything holds" in rosetta_runs("verify", "last").stdout


@pytest.mark.usefixtures("number")
def test_runs_note_shows_hostile_words_harmless() -> None:
    rosetta_runs("note", "last", "x".join(HOSTILE))
    for command in ("list", "show last", "note last", "show last --json"):
        result = rosetta_runs(*command.split())
        assert (result.exit_code, harmless(result.stdout)) == (0, True), command


@pytest.mark.usefixtures("number")
def test_runs_undelete_brings_a_run_back() -> None:
    before = rosetta_runs("show", "last").stdout
    said = rosetta_runs("delete", "last")
    assert "rosetta runs delete --undo 6f1c3a52" in said.stderr
    assert isinstance(rosetta_runs("show", "6f1c").exception, UsageError)
    assert "6f1c3a52" in rosetta_runs("list", "--deleted").stdout
    assert rosetta_runs("delete", "--undo").exit_code == 0
    assert rosetta_runs("show", "last").stdout == before
    assert isinstance(rosetta_runs("delete", "--undo").exception, UsageError)


def test_runs_delete_erases_a_secret_run_at_once(connection: sqlite3.Connection) -> None:
    entries = (*factory.ENTRIES, factory.SECRET_ENTRY)
    seal(connection, factory.add_run(connection, entries, (*factory.OUTPUTS, factory.SECRETS[3])))
    asked = rosetta_runs("delete", "last")
    assert isinstance(asked.exception, UsageError)
    assert "--yes" in str(asked.exception)
    assert len(list_runs(connection)) == 1
    assert "Erased" in rosetta_runs("delete", "last", "--yes").stderr
    assert list_runs(connection, deleted=True) == []
    home = Path(connection.execute("PRAGMA database_list").fetchone()[2]).parent
    stored = b"".join(each.read_bytes() for each in home.iterdir() if each.is_file())
    assert not any(secret.encode() in stored for secret in factory.SECRETS)


def test_retry_asks_again_for_what_failed(connection: sqlite3.Connection, tmp_path: Path) -> None:
    def half(asked: Asked) -> Answer:
        return error(400) if "number 1" in asked.source else json_answer(completion("nothing"))

    with serving(half) as endpoint:
        run_corpus(tmp_path / "home" / "rosetta.sqlite", corpus(4), chat_plan(endpoint.url))
        endpoint.answer = lambda _: json_answer(completion("ENTRY NUMBER 1"))
        again = "last --model other --temperature 0.5 --attempts 2 --plain"
        refused = CliRunner().invoke(retry, f"{again} --max-retries 0")
        assert isinstance(refused.exception, UsageError)
        result = CliRunner().invoke(retry, again)
    assert result.exit_code == 0, result.output
    assert "Asking again for 1 of 4 entries." in result.stderr
    shown = rosetta_runs("show", "last").stdout
    assert "asked again for 1 entry that had failed; the other 3 are those of that run" in shown
    assert "mock + other" in shown
    assert "without the retried" in shown
    assert rosetta_runs("verify", "last").exit_code == 0


STRANGER = Identity.make(Role.COMPUTER)


pytestmark = pytest.mark.usefixtures("no_keyring")


@pytest.fixture
def card(connection: sqlite3.Connection, number: int, tmp_path: Path) -> Path:
    """Return the card of a run as it was exported, with its seal beside it."""
    path = tmp_path / "card.json"
    said = rosetta_runs("export", "last", "-o", str(path))
    assert "Signed with the key of this computer. Its six words are: " in said.stderr
    assert path.with_suffix(".seal.json").stat().st_mode & 0o777 == 0o600
    return path


def verified(path: Path, *more: str, code: int = 0) -> str:
    done = rosetta_runs("verify", str(path), *more)
    assert done.exit_code == code, done.output
    return done.stdout


def test_runs_verify_signed_card_by_who_knows_the_key(card: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:  # fmt: skip
    at_home = verified(card)
    assert "✓ signature: made " in at_home
    assert "with this computer's key: " in at_home
    assert "✓ rows: the 4 that were sealed" in at_home
    assert at_home.endswith("Everything holds.\n")
    assert "✓ rows: the 4" in rosetta_runs("verify", "last").stdout

    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "elsewhere"))
    abroad = verified(card)
    assert "– signature: made " in abroad
    assert "a key that nobody here knows" in abroad
    assert "Everything holds" not in abroad
    words = abroad.partition("six words are: ")[2].partition(".")[0].strip()
    assert verified(card, "--words", words).endswith("Everything holds.\n")
    told = verified(card, "--words", STRANGER.public.phrase, code=1)
    assert "another key than that of the words" in told
    mistyped = rosetta_runs("verify", str(card), "--words", "six mistyped wrds")
    assert "none of the words" in str(mistyped.exception)

    # the seal goes in with its card, and out with it again
    assert rosetta_runs("import", str(card), str(card.with_suffix(".seal.json"))).exit_code == 0
    assert "nobody here knows" in rosetta_runs("verify", "last").stdout
    out = tmp_path / "again.json"
    assert rosetta_runs("export", "last", "-o", str(out)).exit_code == 0
    for suffix in (".json", ".seal.json"):
        assert out.with_suffix(suffix).read_bytes() == card.with_suffix(suffix).read_bytes()


def test_runs_import_takes_no_seal_of_another_card(card: Path, connection: sqlite3.Connection, number: int) -> None:
    sign_run(connection, number, STRANGER, datetime.now(UTC))
    assert rosetta_runs("verify", "last").stdout.count("signature: made") == 2
    forged = json.loads(card.read_bytes()) | {"timestamp": "2020-01-01T00:00:00Z"}
    card.write_text(json.dumps(forged | {"run_card_hash": card_hash(forged)}), encoding="utf-8")
    assert "✗ signature: the seal is that of another card" in verified(card, code=1)
    delete_run(connection, number)
    imported = rosetta_runs("import", str(card))
    assert imported.exit_code == 0
    assert "card.seal.json was not taken. It is the seal of another card" in imported.stderr
    card.with_suffix(".seal.json").unlink()
    assert "Everything holds" not in verified(card)
    verified(card, "--words", STRANGER.public.phrase, code=1)


def test_runs_proof_shows_one_row_alone(card: Path, tmp_path: Path) -> None:
    path = tmp_path / "row.json"
    assert rosetta_runs("export", "last", "--row", "b", "-o", str(path)).exit_code == 0
    text = path.read_text(encoding="utf-8")
    assert "I saw his dog yesterday." in text
    assert "I see the dog." not in text
    shown = verified(path, "--card", str(card))
    assert "✓ seal: RFC 8785" in shown
    assert "✓ row: entry b is row 2 of 4 that were sealed with this card" in shown
    assert shown.endswith("Everything holds.\n")
    assert "– card: not given" in verified(path)
    forged = json.loads(card.read_bytes()) | {"run_id": "0" * 8}
    card.write_text(json.dumps(forged | {"run_card_hash": card_hash(forged)}), encoding="utf-8")
    assert "✗ row: the proof is one for another card" in verified(path, "--card", str(card), code=1)
    path.write_text(text.replace("yesterday", "today"), encoding="utf-8")
    assert "row.json proves nothing" in str(rosetta_runs("verify", str(path)).exception)


@pytest.mark.usefixtures("number")
def test_runs_export_without_a_readable_key_is_unsigned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*_: object) -> None:
        raise KeyStoreError("the keyring is locked")

    monkeypatch.setattr(Identity, "load", locked)
    path = tmp_path / "card.json"
    said = rosetta_runs("export", "last", "-o", str(path))
    assert said.exit_code == 0
    assert "warning: The card is not signed. the keyring is locked" in said.stderr
    assert path.exists()
    assert not path.with_suffix(".seal.json").exists()
    named = rosetta_runs("export", "last", "-o", str(path), "--overwrite", "--as", "computer")
    assert isinstance(named.exception, KeyStoreError)
    unsigned = rosetta_runs("export", "last", "-o", str(path), "--overwrite", "--unsigned")
    assert unsigned.exit_code == 0


@pytest.mark.usefixtures("card")
def test_runs_export_overwrites_no_seal(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.with_suffix(".seal.json").write_text("mine")
    refused = rosetta_runs("export", "last", "-o", str(other))
    assert isinstance(refused.exception, UsageError)
    assert not other.exists()


@pytest.mark.usefixtures("number")
def test_runs_sign_of_a_vault_run_stands_in_its_log(connection: sqlite3.Connection, tmp_path: Path) -> None:
    vault = filled(tmp_path)
    key = tmp_path / "keeper.txt"
    key.write_text(MINE.text())
    of_vault = ("--vault", str(vault.folder), "--with", str(key), "--purpose", "its card")
    refused = rosetta_runs("sign", "last", *of_vault)
    assert "not over texts of the vault" in str(refused.exception)
    state = vault.read()
    (corpus,) = state.head.corpora
    dataset = factory.DATASET.model_copy(update={"opened_from": f"{state.head.vault}/{corpus}/0"})
    run_id = "5" * 8 + factory.RUN_ID[8:]
    with patch.object(factory, "DATASET", dataset), patch.object(factory, "SHA256", "cd" * 32):
        seal(connection, factory.add_run(connection, run_id=run_id))
    done = rosetta_runs("sign", run_id, *of_vault)
    assert done.exit_code == 0, done.exception
    assert isinstance(vault.read().lines[-1].record.act, CardSealed)
    told = rosetta_runs("verify", run_id, "--vault", str(vault.folder)).stdout
    assert "✓ signature: made " in told
    assert "the key of Office, by its log a keeper of this vault" in told
    assert "✓ rows: the 4 that were sealed" in told
    assert "✓ time: sealed after line 3 " in told
    assert "– time: states that it was sealed after" in rosetta_runs("verify", run_id).stdout


def rosetta_community(*arguments: str) -> Result:
    return CliRunner().invoke(community, arguments)


@pytest.mark.usefixtures("number")
def test_community_export_is_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out"
    done = rosetta_community("export", str(target), "--corpus", factory.DATASET.id)
    assert done.exit_code == 0, done.output
    assert "begin with README.txt" in done.stderr
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "elsewhere"))
    abroad = CliRunner().invoke(verify, [str(target)]).stdout
    assert "– key: signed with a key that nobody here knows" in abroad
    words = abroad.partition("six words are: ")[2].partition(".")[0]
    trusted = CliRunner().invoke(verify, [str(target), "--words", words]).stdout
    assert "✓ key: signed with the key whose" in trusted


@pytest.mark.usefixtures("connection", "no_keyring")
def test_community_export_keeps_hostile_names_inside(tmp_path: Path) -> None:
    file = tmp_path / "corpus.json"
    name = "../../<script>\x1b[2J"
    entries = [{"id": 1, "source": "<b>a</b>", "reference": "b", "segment": "development"}]
    pair = {"language_pair": "EN→EO", "source_language": "en", "target_language": "eo"}
    dataset = {"id": name, "version": "1", **pair}
    file.write_text(json.dumps({"dataset": dataset, "entries": entries}), encoding="utf-8")
    target = tmp_path / "out"
    done = rosetta_community("export", str(target), "--corpus", str(file))
    assert done.exit_code == 0, done.output
    assert harmless(done.output)
    assert {each.name for each in tmp_path.iterdir()} <= {"out", "home", "corpus.json"}
    page = (target / "index.html").read_text("utf-8")
    assert "<script>" not in page
    assert harmless((target / "README.txt").read_text("utf-8"))
    assert len(list((target / "corpora").rglob("corpus.json"))) == 1


PAIR = {"language_pair": "EN→EO", "source_language": "en", "target_language": "eo"}


def lint_corpus(canary: Any = CANARY, segment: str = "development") -> dict[str, Any]:
    rows = [
        {"id": n, "source": f"source {n}", "reference": sentence(n), "segment": "diagnostic"}
        | ({"variant_class": "order"} if n < 8 else {})
        | ({"segment": segment} if n >= 20 else {})
        for n in range(30)
    ]
    return {"dataset": {"id": "linted", **PAIR, "canary": canary}, "entries": rows}


@pytest.fixture(scope="module")
def lint_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a run that has something of every kind, and its card beside it."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "corpus.json").write_text(json.dumps(lint_corpus()), "utf-8")
    lines = [sentence(n) if n < 8 else sentence(500 + n) for n in range(30)]
    lines[10] = sentence(21)
    lines[11] = f"ho {CANARY}"
    (folder / "out.txt").write_text("\n".join(lines) + "\n", "utf-8")
    assert called(folder, "score", folder / "corpus.json", folder / "out.txt").exit_code == 0
    assert called(folder, "runs", "export", "last", "-o", folder / "card.json").exit_code == 0
    return folder


def called(lint_home: Path, *words: object) -> Result:
    return said(" ".join(map(str, words)), lint_home)


def checks(done: Result, place: int = 0) -> dict[str, list[Any]]:
    assert done.exit_code == 0, (done.output, done.exception)
    found = json.loads(done.stdout)[place]["findings"]
    return {each["check"]: each["entries"] for each in found}


LINTED = {"numbers": [11], "variants": [*range(8)], "copies": [10], "canary": [11]}


def test_runs_lint_of_a_run_and_its_card(lint_home: Path) -> None:
    both = called(lint_home, "runs", "lint", "last", lint_home / "card.json", "--json")
    assert checks(both) == checks(both, 1) == LINTED
    assert json.loads(both.stdout)[1]["run"] == "card.json"


def test_runs_lint_names_entries_and_no_text(lint_home: Path, tmp_path: Path) -> None:
    shown = called(lint_home, "runs", "lint", "last").stdout
    assert "By chance: p < 0.001" in shown
    assert "entries   0, 1, 2, 3, 4, 5, 6, 7" in shown
    assert not any(text in shown for text in (CANARY, sentence(21), sentence(0)))
    wrong = file(tmp_path, b"{}", "wrong.json")
    assert isinstance(called(lint_home, "runs", "lint", wrong).exception, UsageError)
    assert called(lint_home, "runs", "lint").exit_code == 2


def test_runs_lint_shows_faults_of_outputs_first(tmp_path: Path) -> None:
    path = file(tmp_path, json.dumps(lint_corpus()).encode())
    lines = [f"Jen la traduko: {sentence(n)[5:]}" if n % 3 else sentence(n) for n in range(30)]
    (tmp_path / "out.txt").write_text("\n".join([*lines[:29], "\x1b[31m@@ x"]), "utf-8")
    assert called(tmp_path, "score", path, tmp_path / "out.txt").exit_code == 0
    first, *_ = json.loads(called(tmp_path, "runs", "lint", "last", "--json").stdout)[0]["findings"]
    assert (first["check"], first["count"], first["of"]) == ("beginning", 19, 30)
    assert first["examples"] == ["Jen la traduko:"]
    assert first["cost"] > 1
    shown = called(tmp_path, "runs", "lint", "last").stdout.splitlines()
    assert shown[1].startswith("  ! beginning: 19 of 30 outputs begin with the same words")
    assert "Without that: chrF++ +" in shown[1]
    assert shown[2] == "      such as   Jen la traduko:"
    assert "\x1b" not in "".join(shown)
    found = "19 of 30 outputs begin with the same words, which their references lack (63 %)"
    assert found in called(tmp_path, "runs", "show", "last").stdout
    page = tmp_path / "page.html"
    assert called(tmp_path, "report", "run", "last", "-o", page).exit_code == 0
    assert found in page.read_text("utf-8")
    (tmp_path / "out.txt").write_text("".join(f"{sentence(n)}\n" for n in range(30)), "utf-8")
    assert called(tmp_path, "score", path, tmp_path / "out.txt").exit_code == 0
    clean = called(tmp_path, "runs", "lint", "last").stdout
    assert "nothing found by 6 of 7 checks" in clean
    listed = called(tmp_path, "runs", "list").stdout
    assert "63 % begin alike" in listed


def test_runs_lint_of_a_secret_run_prints_no_text(tmp_path: Path) -> None:
    path = file(tmp_path, json.dumps(lint_corpus(segment="gold_standard")).encode())
    (tmp_path / "out.txt").write_text("".join(f"{sentence(n)}\n" for n in range(30)), "utf-8")
    assert called(tmp_path, "score", path, tmp_path / "out.txt").exit_code == 0
    refused = called(tmp_path, "runs", "lint", "last", "--json")
    assert isinstance(refused.exception, UsageError)
    assert refused.stdout == ""
    shown = called(tmp_path, "runs", "lint", "last")
    assert shown.exit_code == 0
    assert not any(sentence(n) in shown.output for n in range(30))


def test_runs_lint_checks_no_card_with_a_corpus_that_stays(lint_home: Path, tmp_path: Path) -> None:
    raw = lint_corpus()
    raw["dataset"]["transmission"] = "local-only"
    path = file(tmp_path, json.dumps(raw).encode())
    assert called(tmp_path, "score", path, lint_home / "out.txt").exit_code == 0
    shown = called(tmp_path, "runs", "lint", "last").output
    assert all(f"! {each}: " in shown for each in LINTED)
    card = json.loads((lint_home / "card.json").read_text("utf-8"))
    card["dataset"]["sha256"] = sha256(path.read_bytes()).hexdigest()
    (tmp_path / "forged.json").write_text(json.dumps(card), "utf-8")
    forged = called(tmp_path, "runs", "lint", tmp_path / "forged.json").output
    assert "! variants" not in forged


def test_corpus_canary_is_read_and_written(tmp_path: Path) -> None:
    found = load(file(tmp_path, json.dumps(lint_corpus([CANARY, "a" * 20])).encode()))
    assert (found.dataset.canary, found.warnings) == ((CANARY, "a" * 20), ())
    write(found, tmp_path / "again.json", form=Form.SPECIFICATION)
    again = json.loads((tmp_path / "again.json").read_text("utf-8"))["dataset"]
    assert again["canary"] == [CANARY, "a" * 20]
    for wrong in (7, {"a": 1}, ["x" * 20, 7]):
        path = file(tmp_path, json.dumps(lint_corpus(wrong)).encode())
        assert only_problem(path).field == "dataset.canary"
    [warning] = load(file(tmp_path, json.dumps(lint_corpus("abc")).encode())).warnings
    assert (warning.field, "so short" in warning.message) == ("dataset.canary", True)
