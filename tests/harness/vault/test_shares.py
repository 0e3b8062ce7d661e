"""An opening key split M of N: each M shares give it back, fewer tell nothing; drills with a throw-away key, and printed pages."""

import base64
import itertools
import json
import pickle
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import shamir_mnemonic
from hypothesis import given
from hypothesis import strategies as st

from harness.core.failures import UsageError
from harness.sealed.keys import Identity
from harness.sealed.sealing import AgeIdentity, seal, unseal
from harness.sealed.signature import verify
from harness.sealed.signed_archive import signed_record
from harness.sealed.strict_records import FileProblem
from harness.vault.folder import LOG, VaultState
from harness.vault.log import VaultError
from harness.vault.shares import drill as drills
from harness.vault.shares.dealing import own_share
from harness.vault.shares.drill import DRILL, Drill, DrillAnswer, answer, begin, report
from harness.vault.shares.paper import html_page, text_page
from harness.vault.shares.split import NUMBERS, WORDS, KeyShare, OpeningKey, combine, split
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.made import (
    MINE,
    NAMES,
    OFFICE,
    PEOPLE,
    START,
    at,
    founded,
    key_of,
    readable,
    refused,
)
from tests.review.thorough import examples

VECTORS = Path(__file__).parents[2] / "data" / "slip39.json"
"""Those of the standard with 33 words a share, as its authors publish them; their passphrase is TREZOR."""


@examples(8, 25)
@given(
    secret=st.binary(min_size=32, max_size=32),
    counts=st.integers(2, 16).flatmap(lambda n: st.tuples(st.just(n), st.integers(2, n))),
    number=st.integers(0, NUMBERS - 1),
    draw=st.data(),
)
def test_shares_that_went_over_paper_give_the_key_back(
    secret: bytes, counts: tuple[int, int], number: int, draw: st.DataObject
) -> None:
    count, threshold = counts
    shares = split(OpeningKey(secret), threshold, count, number)
    told = [(each.number, each.threshold, each.place) for each in shares]
    assert told == [(number, threshold, place) for place in range(count)]
    chosen = draw.draw(st.permutations(shares))[: draw.draw(st.integers(threshold, count))]
    typed = [
        ", ".join(f"{n} {word.upper()}\n" for n, word in enumerate(each.words.reveal().split(), 1))
        for each in chosen
    ]
    key = combine([*map(KeyShare.read, typed), chosen[0]])  # one that is there twice is no matter
    assert key.secret == secret
    assert [KeyShare.read(each).check for each in typed] == [each.check for each in chosen]


def test_fewer_shares_that_call_themselves_enough_give_no_key() -> None:
    """Who changes the threshold in the words, and their check with it, gets another key or none."""
    key = OpeningKey.make()
    sealed = seal(b"a data key", [key.recipient])
    for number in range(8):
        forged = []
        for each in split(key, 3, 5, number)[:2]:
            share = shamir_mnemonic.Share.from_mnemonic(each.words.reveal())
            fields = {**share.__dict__, "member_threshold": 2}
            forged.append(KeyShare.read(shamir_mnemonic.Share(**fields).mnemonic()))
        refused("", lambda shares: unseal(sealed, [combine(shares).age]), forged)


def test_shares_of_two_splittings_do_not_mix() -> None:
    key = OpeningKey.make()
    old, new, other = (split(k, 2, 3, n) for k, n in ((key, 1), (key, 2), (OpeningKey.make(), 2)))
    refused("not of one splitting", combine, [old[0], new[1]])
    refused("do not belong together", combine, [new[0], other[1]])
    assert combine(old[:2]).secret == combine(new[1:]).secret  # as the page says
    for threshold, count in (
        (1, 3),
        (0, 3),
        (4, 3),
        (2, 17),
        (17, 17),
    ):  # of which none can be made
        refused("", split, OpeningKey.make(), threshold, count, 0)


@pytest.mark.parametrize("case", json.loads(VECTORS.read_text()), ids=lambda case: case["what"])
def test_vectors_of_the_standard(case: dict[str, str | list[str]]) -> None:
    if not case["secret"]:
        refused("", combine, map(KeyShare.read, case["shares"]))
        return
    key = combine(map(KeyShare.read, case["shares"]))
    known = shamir_mnemonic.Share.from_mnemonic(case["shares"][0])
    more = known.iteration_exponent, known.identifier, known.extendable
    hidden = shamir_mnemonic.encrypt(key.secret, b"", *more)
    assert shamir_mnemonic.decrypt(hidden, b"TREZOR", *more).hex() == case["secret"]


def test_what_was_typed_wrong_is_named() -> None:
    words = split(OpeningKey(bytes(range(32))), 2, 3, 5)[0].words.reveal().split()
    listed = shamir_mnemonic.wordlist.WORDLIST

    def said(typed: list[str]) -> str:
        return str(refuses(VaultError, "", KeyShare.read, " ".join(typed)))

    other = next(each for each in listed if each not in words)
    assert len(words) == WORDS
    for place in (0, 1, 2, 4, 15, 29, 30, 31, 32):
        typed = [*words[:place], other, *words[place + 1 :]]
        assert f"Word {place + 1}, {other!r}, is a different one" in said(typed)
    swapped = [*words[:20], words[21], words[20], *words[22:]]
    assert "Words 21 and 22 are swapped" in said(swapped)
    slipped = [*words[:2], words[2] + "x", *words[3:]]
    assert f"Word 3, {words[2] + 'x'!r}" in said(slipped)
    assert f"Is it {words[2]}?" in said(slipped)
    assert "there are 32 here" in said(words[1:])
    assert "there are 0 here" in said([])
    assert "Word 1, 'мова'" in said(["мова", *words[1:]])
    assert "More than one" in said([other, *words[1:11], other, *words[12:]])


def test_words_of_other_kinds_are_said() -> None:
    """SLIP-39 knows shares of one and groups of groups; none of them is of a vault."""
    [[alone]] = shamir_mnemonic.generate_mnemonics(1, [(1, 1)], bytes(32))
    groups = shamir_mnemonic.generate_mnemonics(2, [(2, 2), (2, 3)], bytes(32))
    for words in (alone, groups[0][0], groups[1][0]):
        assert refuses(VaultError, "", KeyShare.read, words).problem is FileProblem.NOT_OURS


def test_nothing_shows_or_copies_a_key_or_a_share() -> None:
    key = OpeningKey(b"kanariobirdo" + bytes(20))
    share = split(key, 2, 2, 0)[0]
    assert "kanario" not in repr(key)
    assert not {*share.words.reveal().split()} & {*repr(share).split()}
    for each in (key, share):
        refuses(TypeError, "", pickle.dumps, each)


def test_the_key_is_an_age_identity_and_signs() -> None:
    """The recipient of 32 bytes of value 9 is not ours: the library that opens checks form and letters of a key."""
    key = OpeningKey(bytes([9]) * 32)
    assert AgeIdentity.read(key.age.secret) == key.age
    assert len(key.recipient) == 62
    assert verify(key.signing_key, b"data", key.sign(b"data"))
    assert not verify(OpeningKey.make().signing_key, b"data", key.sign(b"data"))
    assert key.signing_key != key.secret.hex()


@examples(25, 100)
@given(secret=st.binary(min_size=32, max_size=32))
def test_every_secret_is_written_as_age_writes_it(secret: bytes) -> None:
    made = AgeIdentity.of(secret)  # whose library refuses a key of which one letter is wrong
    assert unseal(seal(b"x", [made.recipient]), [made]) == b"x"


# Drills with a throw-away key, and shares as pages to print


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
    fields = json.loads((folder / DRILL).read_bytes())
    del fields["signature"]
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


def test_drill_changed_or_of_others(drill: tuple[VaultState, Path], single: Path) -> None:
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
