"""``rosetta vault grant``: three keepers on three homes and one stick, as they type it; two of them open together."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from harness.core.failures import UsageError
from rosetta_tui.commands import rosetta
from tests import keyring_in_memory
from tests.harness.vault.made import readable
from tests.review.thorough import times
from tests.tui.commands.vault_office import HOMES, Homes

SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "vault-grants.schema.json"


@pytest.fixture(autouse=True)
def keyring() -> Iterator[None]:
    with keyring_in_memory.memory_keyring():
        yield


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Homes:
    return Homes(tmp_path, monkeypatch)


def test_three_keepers_three_homes_and_one_stick(homes: Homes) -> None:
    """Answers in any order, one of them twice; one keeper refuses; the grant opens once."""
    real = bool(times(0, 1))

    def at(home: str, line: str, *more: str) -> str:
        return homes(home, line, *more, real=real)

    told = at("office", "grant request elders greetings {stick}/one.rosetta-request --purpose", "second opinion")  # fmt: skip
    assert "Office asks to open 'greetings' once: 2 development, 4 gold_standard" in told
    assert "2 keepers must allow it" in told
    words = told.partition("its words   ")[2].splitlines()[0]
    at("office", "export elders {stick}/elders --purpose", "for the keepers")
    shown = at("library", "grant show {stick}/elders {stick}/one.rosetta-request")
    assert words in shown
    assert "No answer yet from Office, School, Library." in shown
    refused = at("library", "grant refuse {stick}/elders {stick}/one.rosetta-request --to {stick}/library.rosetta-answer --reason", "ask me in May")  # fmt: skip
    assert "the log will have it with your reason" in refused
    for home in ("school", "office"):
        allowed = at(home, f"grant allow {{stick}}/elders {{stick}}/one.rosetta-request --yes --to {{stick}}/{home}.rosetta-answer")  # fmt: skip
        assert "it cannot be used again" in allowed
    assert "Too few" not in at("office", "grant take elders {stick}/library.rosetta-answer")
    assert "Too few keepers allow it. 2 must allow it. Refused by Library: ask me in May." in at(
        "office", "open elders --grant {stick}/one.rosetta-request"
    )
    taken = at("office", "grant take elders {stick}/school.rosetta-answer {stick}/office.rosetta-answer {stick}/school.rosetta-answer")  # fmt: skip
    assert taken.count("School allows it") == 2
    assert "Allowed by School, Office. Refused by Library: ask me in May." in taken
    elsewhere = at("school", "open {stick}/elders --grant {stick}/one.rosetta-request")
    assert "made on another computer" in elsewhere
    opened = at("office", "open elders --grant {stick}/one.rosetta-request")
    assert "greetings: 6 entries opened" in opened
    again = at("office", "open elders --grant {stick}/one.rosetta-request")
    assert "was used up at" in again
    assert "opens once" in again
    log, grant = at("office", "log elders"), granted(homes)["grant"][:8]
    assert [line.split("  ")[1].partition(" (")[0] for line in log.splitlines()[2:]] == [
        "Office: asked to open 'greetings' once: 2 development, 4 gold_standard; it is " + grant,
        "Office: made a sealed copy",
        f"Office: took in what Library says to {grant}: refuses it: ask me in May",
        f"Office: took in what School says to {grant}: allows it",
        f"Office: took in what Office says to {grant}: allows it",
        f"Office: used up the grant {grant} and opened 'greetings': 2 development, 4 gold_standard",
    ]
    assert readable(homes.folder) == []


@pytest.mark.parametrize(
    "words",
    [
        ["vault", "open", "elders", "--grant"],
        ["run", "greetings", "--vault", "elders", "--method", "copy-source", "--despite-network", "made up", "--grant"],
        ["vault", "grant", "show", "elders"],
        ["vault", "grant", "allow", "elders", "--to", "a.rosetta-answer", "--yes"],
        ["vault", "grant", "refuse", "elders", "--to", "a.rosetta-answer", "--reason", "no"],
    ],
)  # fmt: skip
def test_a_request_that_is_not_there_or_is_none_is_bad_input_and_named(
    homes: Homes, words: list[str]
) -> None:
    homes("office", "show elders")  # the next commands are typed there
    Path("wrong.rosetta-request").write_text("{}", "utf-8")
    for name in ("wrong.rosetta-request", "gone.rosetta-request"):
        failed = CliRunner().invoke(rosetta, [*words, name]).exception
        assert isinstance(failed, UsageError), failed
        assert str(failed).startswith(f"{name}: ")


def granted(homes: Homes) -> dict[str, str]:
    shown = json.loads(homes("office", "grant show elders --json"))
    schema = json.loads(SCHEMA.read_text())
    assert list(Draft202012Validator(schema).iter_errors(shown)) == []
    assert shown[0]["used"]
    found: dict[str, str] = shown[0]
    return found


def test_three_keepers_at_one_laptop(homes: Homes) -> None:
    """Each brings their keys on a stick of their own, and types nothing but their name for the answer."""
    homes("office", "grant request elders greetings a.rosetta-request --purpose", "at one table")
    for name in HOMES[1:]:
        shutil.copy(homes.folder / name / "keeper.key", homes.stick / f"{name}.key")
        told = homes("office", f"grant allow elders a.rosetta-request --yes --key {{stick}}/{name}.key --to {name}.rosetta-answer")  # fmt: skip
        assert f"Written: {name}.rosetta-answer" in told
    homes("office", "grant take elders library.rosetta-answer school.rosetta-answer")
    assert "6 entries opened" in homes("office", "open elders --grant a.rosetta-request")


def test_what_a_keeper_is_asked_and_what_is_refused(homes: Homes) -> None:
    ask = "grant request elders greetings a.rosetta-request --method copy-source --days 3 --purpose x"  # fmt: skip
    told = homes("office", ask)
    assert "then        a run of the method copy-source" in told
    assert "is there already" in homes("office", ask)
    gone = ask.replace("a.rosetta-request", "gone/a.rosetta-request")
    assert "no folder gone. Put the stick back" in homes("office", gone)
    assert len(homes("office", "log elders").splitlines()) == 3
    assert "error: " in homes("office", "grant request elders greetings b.rosetta-request --method nothing --purpose x")  # fmt: skip
    opened = homes("office", "open elders --grant a.rosetta-request")
    assert "It was granted a run, and this is to open the texts and check them." in opened
    (homes.folder / "office" / "junk").write_bytes(b"{}")
    for line in ("grant take elders junk", "grant allow elders junk --yes --to x.rosetta-answer"):
        said = homes("office", line)
        assert "Ask for the file once more" in said
    assert "put the stick back, and try again" in homes(
        "office", "grant take elders nowhere.rosetta-answer"
    )
    assert "opens for 2 of its 3 keepers" in homes("office", "open elders greetings --purpose x")
    assert "Leave the rest out" in homes("office", "open elders greetings --grant a.rosetta-request")  # fmt: skip
    assert "Nobody asked" not in homes("office", "grant show elders")
