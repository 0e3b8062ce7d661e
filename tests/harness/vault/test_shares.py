"""An opening key split M of N: each M shares give it back, fewer tell nothing; shares that were tried, and printed pages."""

import itertools
import json
import pickle
import re
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest
import shamir_mnemonic
from hypothesis import given
from hypothesis import strategies as st

from harness.sealed.archive import signed_record
from harness.sealed.keys import Identity, verify
from harness.sealed.sealing import AgeIdentity, seal, unseal
from harness.sealed.strict_records import FileError, FileProblem
from harness.vault.folder import LOG, VaultState
from harness.vault.key_shares import NUMBERS, WORDS, KeyShare, OpeningKey, combine, split
from harness.vault.log import VaultError
from harness.vault.shares import ShareTried, html_page, own_share, read_tried, shares_tried, text_page, try_share
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.made import MINE, NAMES, OFFICE, PEOPLE, START, at, founded, key_of, readable, refused, vault
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
        ", ".join(f"{n} {word.upper()}\n" for n, word in enumerate(each.words.reveal().split(), 1)) for each in chosen
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
    for threshold, count in ((1, 3), (0, 3), (4, 3), (2, 17), (17, 17)):  # of which none can be made
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


# Shares that were tried, and as pages to print


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "mine"


def file_of(folder: Path, name: str) -> Path:
    [path] = folder.glob(f"tried-*-{PEOPLE[name].public.signing_key[:16]}.json")
    return path


def names_tried(state: VaultState, memory: Path) -> list[str]:
    return sorted(state.keepers[key].name for key in shares_tried(state, memory))


def test_tried_share_is_signed_and_tells_nothing(here: Path, memory: Path) -> None:
    state = at(here)
    before = (state.folder / LOG).read_bytes()
    assert names_tried(state, memory) == []
    for name in ("Office", "Library"):
        share, trouble = try_share(state, PEOPLE[name], memory, START)
        assert (share.words.reveal(), trouble) == (own_share(state, PEOPLE[name]).words.reveal(), "")
    try_share(state, OFFICE, memory, START + timedelta(days=1))
    assert names_tried(state, memory) == ["Library", "Office"]
    assert shares_tried(state, memory)[OFFICE.public.signing_key] == "2026-01-03T03:04:05Z"
    assert (state.folder / LOG).read_bytes() == before
    assert at(here).left_over == ()
    written = b"".join(each.read_bytes() for each in state.folder.glob("tried-*"))
    for name in NAMES:
        assert own_share(state, PEOPLE[name]).words.reveal().encode() not in written
    assert readable(here) == []


def test_share_that_does_not_open_is_not_tried(here: Path, memory: Path) -> None:
    state = at(here)
    lost = Identity(OFFICE.role, PEOPLE["Church"].seed, PEOPLE["Council"].age)  # half of the keys
    refuses(FileError, "", try_share, state, lost, memory, START)
    refused("no share for them", try_share, state, MINE, memory, START)
    assert names_tried(state, memory) == []
    assert not memory.exists()


def test_tried_files_that_are_none_count_nothing(here: Path, memory: Path, tmp_path: Path) -> None:
    state = at(here)
    for name in NAMES:
        try_share(state, PEOPLE[name], tmp_path / "theirs", START)
    folder = state.folder
    file_of(folder, "Office").write_bytes(b"{")
    file_of(folder, "School").write_bytes(file_of(folder, "Library").read_bytes())
    church = file_of(folder, "Church").read_bytes().replace(b"2026-01-02", b"2026-01-03")
    file_of(folder, "Church").write_bytes(church)
    recovery = PEOPLE["recovery key"]
    said = read_tried(file_of(folder, "recovery key").read_bytes())
    other = ShareTried.model_validate(said.model_dump(exclude={"signature"}) | {"check": "0" * 64})
    file_of(folder, "recovery key").write_bytes(signed_record(other, recovery))
    assert names_tried(state, memory) == ["Library"]


def test_tried_shares_are_kept_here_until_new_ones_are_dealt(here: Path, memory: Path) -> None:
    """What a stick told of its copy, this computer knows of the vault at home too."""
    state, path = at(here), None
    try_share(state, OFFICE, memory.with_name("theirs"), START)
    assert names_tried(state, memory) == ["Office"]
    path = file_of(state.folder, "Office")
    path.unlink()
    path.mkdir()  # nothing can be written there
    assert names_tried(state, memory) == ["Office"]
    assert "folder" in try_share(state, OFFICE, memory, START)[1]
    made = vault(here, START + timedelta(days=1))
    state = made.refresh("a page was seen", OFFICE, key_of(state, *NAMES[:3]))
    assert names_tried(state, memory) == []


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
    assert page.tags <= {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "table", "tr", "td"}
    assert page.attributes == {"lang", "charset"}
    assert "url(" not in html
    assert "\u202e" not in text + html
    numbered = {int(n): w for n, w in re.findall(r"(\d+) ([a-z]+)", text.split("\n\n")[2])}
    cells = [each for each in page.cells if each]
    in_cells = {int(n): w for n, w in itertools.pairwise(cells) if n.isdecimal()}
    for words in (numbered, in_cells):
        typed = " ".join(words[n] for n in range(1, 34))
        assert KeyShare.read(typed).check == share.check
    for said in ("one of 3 shares", "2 different shares together open it", "Once 2 of the 3 shares"):
        assert said in " ".join(text.split())
        assert said in html
    assert max(len(line) for line in text.splitlines()[3:]) <= 80
    made = founded(tmp_path / "b", 2)
    refused("share of another vault", html_page, made.read(), share)
    mine = own_share(made.read(), OFFICE)
    state = made.refresh("a page was seen", OFFICE, key_of(made.read(), "Office", "School"))
    refused("before the keepers got new ones", text_page, state, mine)
