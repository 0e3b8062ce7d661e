"""Drills with a throw-away key, and shares as pages to print."""

import base64
import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from harness.core.failures import UsageError
from harness.sealed.keys import Identity
from harness.sealed.signed_archive import signed_record
from harness.vault.folder import LOG, VaultState
from harness.vault.shares import drill as drills
from harness.vault.shares.dealing import own_share
from harness.vault.shares.drill import DRILL, Drill, DrillAnswer, answer, begin, report
from harness.vault.shares.paper import html_page, text_page
from harness.vault.shares.split import KeyShare, OpeningKey, split
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.made import MINE, START, readable, refused
from tests.harness.vault.together import NAMES, OFFICE, PEOPLE, at, founded, key_of


@pytest.fixture
def drill(here: Path) -> tuple[VaultState, Path]:
    """A vault, and the folder of a drill that was begun for it."""
    begin(at(here), here / "drill", OFFICE, START)
    return at(here), here / "drill"


def path_of(folder: Path, name: str) -> Path:
    return folder / f"answer-{PEOPLE[name].public.signing_key[:16]}.json"


def test_drill_says_who_could_and_who_could_not(drill: tuple[VaultState, Path]) -> None:
    state, folder = drill
    log = state.folder / LOG
    before = log.read_bytes()
    found = report(folder, state)
    assert not found.enough
    assert [each.name for each in found.silent] == [*NAMES]
    for name in ("Office", "Library"):
        assert answer(folder, PEOPLE[name], START)
    assert not report(folder, state).enough
    lost = Identity(OFFICE.role, PEOPLE["Church"].seed, PEOPLE["Council"].age)  # half of the keys
    assert not answer(folder, lost, START)
    found = report(folder, state)
    assert [each.name for each in found.could] == ["Office", "Library"]
    assert found.could_not == {"Church": "their keys do not open what was sealed for them"}
    assert [each.name for each in found.silent] == ["School", "recovery key"]
    assert not found.enough
    assert answer(folder, PEOPLE["recovery key"], START)
    assert answer(folder, PEOPLE["Office"], START)  # twice is no matter
    found = report(folder, state)
    assert found.enough
    assert [each.name for each in found.silent] == ["School"]
    assert log.read_bytes() == before
    assert readable(folder.parent) == []
    answer(folder, PEOPLE["School"], START)
    written = b"".join(each.read_bytes() for each in folder.iterdir())
    for name in NAMES:
        assert own_share(state, PEOPLE[name]).words.reveal().encode() not in written
    assert state.split.recipient.encode() not in written


def test_drill_that_asks_for_the_real_share_gets_nothing(drill: tuple[VaultState, Path]) -> None:
    """A keeper with a program of their own puts the sealed share of the vault into a drill, and waits for the answer."""
    state, folder = drill
    school = PEOPLE["School"].public.signing_key
    real = state.split.shares[school]
    fields = {
        k: v for k, v in json.loads((folder / DRILL).read_bytes()).items() if k != "signature"
    }
    drawn = Drill.model_validate(fields)
    sealed = {"sealed": base64.b64encode(state.file(real.file)).decode(), "check": real.check}
    shares = tuple(
        each.model_copy(update=sealed) if each.keeper.signing_key == school else each
        for each in drawn.shares
    )
    (folder / DRILL).write_bytes(signed_record(drawn.model_copy(update={"shares": shares}), OFFICE))
    refused("no share of a drill", answer, folder, PEOPLE["School"], START)
    assert [each.name for each in folder.iterdir()] == [DRILL]


def test_answers_that_are_none_count_as_none(drill: tuple[VaultState, Path]) -> None:
    state, folder = drill
    for name in NAMES:
        answer(folder, PEOPLE[name], START)
    number = json.loads(path_of(folder, "Office").read_bytes())["drill"]
    path_of(folder, "Office").write_bytes(b"{")
    path_of(folder, "School").write_bytes(path_of(folder, "Library").read_bytes())
    church = path_of(folder, "Church").read_bytes().replace(b"2026-01-02", b"2026-01-03")
    path_of(folder, "Church").write_bytes(church)
    theirs = KeyShare.read(json.loads(path_of(folder, "recovery key").read_bytes())["words"])
    other = json.loads(path_of(folder, "Library").read_bytes())["words"]
    assert theirs.words.reveal() != other
    recovery = PEOPLE["recovery key"]
    wrong = DrillAnswer(drill=number, when="2026-01-02T03:04:05Z", words=other, by=recovery.public.signing_key)  # fmt: skip
    path_of(folder, "recovery key").write_bytes(signed_record(wrong, recovery))
    found = report(folder, state)
    assert [each.name for each in found.could] == ["Library"]
    assert {name: why.split(":")[0].split(",")[0] for name, why in found.could_not.items()} == {
        "Office": "This is not an answer to a drill",
        "School": "the answer is one to another drill",
        "Church": "An answer to a drill was changed after it was signed",
        "recovery key": "what they gave back is not the share that they were given",
    }


def test_drill_that_was_changed_or_is_of_others_is_refused(
    drill: tuple[VaultState, Path], single: Path
) -> None:
    state, folder = drill
    other = folder.with_name("other")
    refused("no share for these keys", answer, folder, MINE, START)
    refuses(UsageError, "there already", begin, state, folder, OFFICE, START)
    refused("Only a keeper", begin, state, other, MINE, START)
    refused("opens this vault alone", begin, at(single), other, MINE, START)
    refused("drill of another vault", report, folder, founded(other).read())
    data = (folder / DRILL).read_bytes()
    fields = {k: v for k, v in json.loads(data).items() if k != "signature"}
    strangers = Drill.model_validate(fields | {"by": MINE.public.signing_key})
    signed, two = signed_record(strangers, MINE), data.replace(b'"threshold":3', b'"threshold":2')
    for broken in (signed, data[:-9], two, b"", b"[]"):
        (folder / DRILL).write_bytes(broken)
        for ask in (lambda: answer(folder, OFFICE, START), lambda: report(folder, state)):
            refuses(UsageError, r"not a drill|changed after it was signed", ask)
    (folder / DRILL).unlink()
    refuses(UsageError, "cannot be read", answer, folder, OFFICE, START)


def test_drill_dealt_wrong_is_said(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drills, "split", lambda _, *rest: split(OpeningKey.make(), *rest))
    begin(at(here), here / "drill", OFFICE, START)
    for name in NAMES:
        answer(here / "drill", PEOPLE[name], START)
    refused("dealt them wrong", report, here / "drill", at(here))


class _Page(HTMLParser):
    """Collects the cells of a page, and everything by which it could load something."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.cells.append(data.strip())


def test_printed_pages_give_the_share_back(tmp_path: Path) -> None:
    state = founded(tmp_path, 2, ["<b>Ofis & co\u202e</b>", "School", "recovery key"]).read()
    share = own_share(state, PEOPLE["<b>Ofis & co\u202e</b>"])
    text, html = text_page(state, share).reveal(), html_page(state, share).reveal()
    page = _Page()
    page.feed(html)
    assert page.tags <= {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "table", "tr", "td"}  # fmt: skip
    assert page.attributes == {"lang", "charset"}
    assert "url(" not in html
    assert "\u202e" not in text + html
    numbered = {int(n): w for n, w in re.findall(r"(\d+) ([a-z]+)", text.split("\n\n")[2])}
    cells = [each for each in page.cells if each]
    in_cells = {int(n): w for n, w in itertools.pairwise(cells) if n.isdecimal()}
    for words in (numbered, in_cells):
        typed = " ".join(words[n] for n in range(1, 34))
        assert KeyShare.read(typed).check == share.check
    for said in ("one of 3 shares", "2 different shares together open it", "Once 2 of the 3 shares"):  # fmt: skip
        assert said in " ".join(text.split())
        assert said in html
    assert max(len(line) for line in text.splitlines()[3:]) <= 80
    made = founded(tmp_path / "b", 2)
    refused("share of another vault", html_page, made.read(), share)
    mine = own_share(made.read(), OFFICE)
    state = made.refresh("a page was seen", OFFICE, key_of(made.read(), "Office", "School"))
    refused("before the keepers got new ones", text_page, state, mine)
