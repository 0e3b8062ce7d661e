"""The page writes and reads the formats of the program, byte for byte."""

import base64
import json
import random
import sys
import unicodedata
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import pytest

from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.core.storage import storable
from harness.sealed import sealing
from harness.sealed.archive import pack, pack_signed
from harness.sealed.phrase import LIST, phrase
from harness.sealed.strict_records import FileError
from review.files.batch import write_batch
from review.files.identities import CodeError, read_code, tag_of
from review.files.manifests import wording
from review.files.ratings import open_ratings, sign_ratings
from review.log.merge import merge
from review.session.record import as_kept, harmless
from review.session.view import minutes_for
from review.session.words.catalogue import Words
from review.session.words.keys import act_of
from tests.review.browser.scripts import HERE, README, TEXTS, catalogue, in_node
from tests.review.files import made
from tests.review.session.scenes import CODE, CUSTODIANS, batch_of, items_of, tag

SALT = bytes(range(32))
ASSIGNED = [code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) not in {"Cn", "Cs", "Co"}]
"""Letters that this Python knows; a browser may know more."""


def ask(name: str, *calls: Sequence[Any]) -> list[Any]:
    """Call a function of the page once for each list of arguments."""
    requests = [{"name": name, "args": [_plain(argument) for argument in arguments]} for arguments in calls]
    return [_bytes(result) for result in in_node("ask", requests, HERE / "ask.js")]


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"$": base64.b64encode(value).decode()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _bytes(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"$"}:
        return base64.b64decode(value["$"])
    return [_bytes(each) for each in value] if isinstance(value, list) else value


def refused(call: Callable[[str], Any], typed: str) -> Any:
    """Return what a call gives, or the problem for which it is refused."""
    try:
        return call(typed)
    except (FileError, CodeError) as error:
        return {"refused": str(error.problem)}


# text


def test_text_is_read_as_in_python() -> None:
    blanks = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000 and not chr(code).strip()]
    around = [f"{blank}a{blank}b{blank}" for blank in [*blanks, "\ufeff", "\u180e", "\u200b", "x"]]
    assert ask("strip", *([text] for text in around)) == [text.strip() for text in around]
    draw = random.Random(1)
    pieces = ["\ud800", "\udc00", "\udbff", "a", "\U00010400", "\ufeff", "\u0301"]
    halves = ["".join(draw.choices(pieces, k=draw.randrange(7))) for _ in range(300)]
    assert ask("storable", *([text] for text in halves)) == [storable(text) for text in halves]
    assert ask("length", *([storable(text)] for text in TEXTS)) == [len(storable(text)) for text in TEXTS]
    cuts = [[storable(text), most] for text in TEXTS for most in (0, 1, 3, 4000)]
    assert ask("cut", *cuts) == [text[:most] for text, most in cuts]


@pytest.mark.every_python
def test_every_letter_is_kept_as_in_python() -> None:
    assert ask("harmless_of", [ASSIGNED]) == [[harmless(chr(code)) for code in ASSIGNED]]
    assert ask("kept_of", [ASSIGNED]) == [[as_kept(chr(code)) for code in ASSIGNED]]
    assert ask("acts_of", [ASSIGNED]) == [[act_of(chr(code)) for code in ASSIGNED]]
    lines = ["a\r\nb\rc\td\u3000\u200d", "\ud800x\u0000"]
    assert ask("harmless", *([line] for line in lines)) == [harmless(line) for line in lines]


def test_canonical_json_is_equal() -> None:
    draw = random.Random(2)
    letters = [*'a\u20ac\U00010400\ufb33\0\x1f"\\/\x7f\u20281', "__proto__"]
    texts = [draw.choice(letters) + draw.choice(letters) for _ in range(600)]
    values: list[Any] = [dict(zip(texts[n : n + 6], texts[::-1], strict=False)) for n in range(0, 600, 6)]
    values += [
        None,
        True,
        0,
        -1,
        2**53 - 1,
        -(2**53) + 1,
        0.5,
        1e-7,
        123456789.25,
        [],
        {},
        [[{"b": [1, "x"], "a": None}]],
        5e-324,
    ]
    assert ask("canonical", *([value] for value in values)) == [canonical_bytes(value).decode() for value in values]
    for wrong in ("\ud800", {"\udc00": 1}, 2**53):
        assert "refused" in ask("canonical", [wrong])[0]
        with pytest.raises(UsageError):
            canonical_bytes(wrong)


def test_numbers_are_rounded_as_in_python() -> None:
    halves = [n / 4 for n in range(-20, 60)] + [1.005 * n for n in range(40)] + [2**52 + 0.5, 0.49999999999999994]
    assert ask("roundHalfEven", *([value] for value in halves)) == [round(value) for value in halves]
    minutes: list[Any] = [[n, seconds] for n in range(0, 40, 3) for seconds in (0.0, 1.5, 7.5, 30.0, 61.25)]
    assert ask("minutesFor", *minutes) == [minutes_for(n, seconds) for n, seconds in minutes]
    times = [[random.Random(n).randrange(90_000) for _ in range(n)] for n in range(5, 25)]
    decisions = [[[{"kind": "rate", "active_ms": each} for each in some], False] for some in times]
    assert ask("secondsEach", *decisions) == [median(each / 1000 for each in some) for some in times]


# codes, words, passphrases

TYPED = (
    CODE, CODE.lower(), f" {CODE[:4]}-{CODE[4:]}\n", f"{CODE[:4]}\u2013{CODE[4:]}", CODE.replace("0", "o").replace("1", "l"), CODE[:-1],
    CODE[::-1], f"{CODE[1]}{CODE[0]}{CODE[2:]}", "UUUUUUUU", "", "\uff10" * 8, f"\u00a0{CODE}\x85", f"\ufeff{CODE}", "ÄBCDEFGH", "0" * 8, "ſ" * 8,
)  # fmt: skip


def test_codes_are_read_as_in_python() -> None:
    assert ask("readCode", *([typed] for typed in TYPED)) == [refused(read_code, typed) for typed in TYPED]
    assert ask("tagOf", [CODE, SALT]) == [tag_of(CODE, SALT)]


def test_six_words_are_equal() -> None:
    digests = [random.Random(n).randbytes(32).hex() for n in range(24)]
    found = ask("phrase", *([digest, " ".join(LIST)] for digest in digests))
    assert found == [[phrase(digest), phrase(digest, earlier=True)] for digest in digests]


def test_typed_passphrases_are_equal() -> None:
    typed = [
        "Fobab  fobab,fobab",
        "fobab-fobab‐fobab",
        "\u00a0FOBAB\u2003fobab\x85fobab ",
        "ﬁfth fobab fobab",
        "short",
        "",
        " - , ",
    ]
    words = ["fobab fobab fobab"] * 3 + ["fifth fobab fobab", *[{"refused": "wrong_key"}] * 3]
    assert ask("typedPassphrase", *([text] for text in typed)) == words
    assert [sealing.typed_passphrase(text) for text in typed[:4]] == words[:4]


def test_words_of_a_language_are_said_as_in_python() -> None:
    one, many = "{n} sentence is left for later.", "{n} sentences are left for later."
    said = ["Saved: {rating}.", "no message of ours {rating} {other}", "constructor"]
    counts = [0, 1, 2, 5, 21, 100, 101, 199, 200, 201, 1000, 1001]
    for language in ("en", "fr"):
        words = Words.load(language)
        found = ask("words", [json.dumps(catalogue(language)), [[one, many, n] for n in counts], said, "{n} {rating}"])[
            0
        ]
        plurals = [words.plural(one, many, n) for n in counts]
        assert found == [plurals, [words(text, rating="{n} {rating}") for text in said]]


# sealed files

LENGTHS = (0, 1, 65_535, 65_536, 65_537, 131_072, 200_000)


def test_what_one_seals_the_other_opens() -> None:
    one, two, stranger = CUSTODIANS[0], CUSTODIANS[1], sealing.AgeIdentity.make()
    assert ask("recipient", [one.secret]) == [one.recipient]
    texts = [random.Random(length).randbytes(length) for length in LENGTHS]
    theirs = ask("seal", *([text, [one.recipient, two.recipient]] for text in texts))
    assert [sealing.unseal(sealed, [identity]) for sealed in theirs for identity in (one, two)] == [
        t for t in texts for _ in "ab"
    ]
    ours = [sealing.seal(text, [one.recipient, two.recipient]) for text in texts]
    assert ask("unseal", *([sealed, [stranger.secret, two.secret]] for sealed in ours)) == texts
    assert ask("unseal", [ours[0], [stranger.secret]]) == [{"refused": "wrong_key"}]


@pytest.mark.costly("scrypt with 64 MiB, five times")
def test_what_one_seals_with_words_the_other_opens() -> None:
    words, text = "fobab fobab fobab", b"x" * 70_000
    assert sealing.unseal_with_passphrase(ask("sealWithPassphrase", [text, words])[0], words) == text
    ours = sealing.seal_with_passphrase(text, words)
    assert ask("unsealWithPassphrase", [ours, words], [ours, "other words"]) == [text, {"refused": "wrong_key"}]


def test_damaged_sealed_files_are_refused() -> None:
    """Each byte of the head, and some of the rest, is another; a part is missing, or there is more."""
    one = CUSTODIANS[0]
    sealed = sealing.seal(b"y" * 65_536 + b"z", [one.recipient])
    places = [*range(0, 200, 3), len(sealed) - 1, len(sealed) - 17, 65_700]
    wrong = [sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :] for at in places if sealed[at] != ord("\n")]
    wrong += [sealed[:-1], sealed[:-17], sealed + b"\0", sealed[:150], sealed[:-65_569], b"", sealed[:21]]
    assert all(
        "refused" in (result if isinstance(result, dict) else {})
        for result in ask("unseal", *([file, [one.secret]] for file in wrong))
    )


# batches and ratings


def test_batches_are_opened_and_damaged_ones_refused() -> None:
    batches = [
        made.batch(),
        made.batch(format="rosetta-batch/2"),
        batch_of(items_of(5)),
        batch_of(items_of(2), salt=SALT, looks=1),
    ]
    for batch, found in zip(batches, ask("batch", *([batch.archive] for batch in batches)), strict=True):
        assert found["manifest"] == json.loads(batch.manifest_bytes)
        assert found["items"] == [item.model_dump(mode="json") for item in batch.items]
        assert (found["sha256"], len(found["training"])) == (batch.sha256, len(batch.training))
    data = made.batch().archive
    wrong = [data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] for at in range(0, len(data), 7)]
    wrong += [
        data[:-1],
        data + b"\0",
        data[: len(data) // 2],
        b"PK",
        b"",
        sign_ratings(made.events(3), made.batch(), made.LAPTOP),
    ]
    results = ask("batch", *([file] for file in wrong))
    assert [result for result in results if "refused" not in result] == []
    locked = write_batch(made.batch(), passphrase="fobab fobab fobab")
    assert ask("batch", [locked], [locked, "FOBAB-fobab fobab "])[0] == {"refused": "locked"}


def test_a_batch_that_contradicts_itself_is_refused() -> None:
    def signed(**changes: Any) -> bytes:
        members = {
            "items.jsonl": b"",
            "training.jsonl": b"",
            "README.txt": b"",
            "salt.txt": SALT.hex().encode() + b"\n",
        }
        return pack_signed(made.manifest(**changes), members, made.ORGANISATION)

    results = ask(
        "batch", [signed()], [signed(secret=True)], [pack({"manifest.json": b"{}", "manifest.sig": bytes(64)})]
    )
    assert [result["refused"] for result in results] == ["invalid", "invalid", "not_ours"]


def test_words_of_organisations_are_chosen_as_in_python() -> None:
    draw = random.Random(3)
    tags = ["en", "EN-gb", "fr", "fr-CA", "crk", "crk-Cans", "crk-Cans-CA", "iu", "x"]
    cases: list[Any] = [
        [draw.choice(("", " ", "own")), draw.choice(tags), {t: draw.choice(("", "\x85", t)) for t in draw.sample(tags, 3)}, draw.sample(tags, 2)]
        for _ in range(300)
    ]  # fmt: skip
    assert ask("wording", *cases) == [wording(own, tag, given, *wanted)._asdict() for own, tag, given, wanted in cases]


def test_events_are_written_byte_for_byte() -> None:
    events = made.events(600)
    payloads = [event.payload.model_dump(mode="json") for event in events]
    places = [
        {"device": e.device, "seq": e.seq, "lamport": e.lamport, "prev": e.prev, "salt": e.salt.hex()} for e in events
    ]
    assert ask("events", [payloads, places])[0] == [event.line().decode() for event in events]


def test_archives_of_ratings_are_written_byte_for_byte() -> None:
    batch, identity = made.batch(), {"seed": made.LAPTOP.seed.hex(), "age": _age_secret(made.LAPTOP.age.secret)}
    events = [
        [*made.events(n), *made.events(n % 4, device="1" * 16), *made.events(n % 3, batch_id="f" * 16, device="2" * 16)]
        for n in range(1, 25)
    ]
    lines = [
        [event.line().decode() for event in random.Random(n).sample(some, len(some))] for n, some in enumerate(events)
    ]
    found = ask("signed", *([some, batch.archive, identity, README] for some in lines))
    assert found == [sign_ratings(some, batch, made.LAPTOP) for some in events]


def _age_secret(written: str) -> str:
    return str(ask("secretOf", [written])[0].hex())


def test_a_review_is_finished_in_another_browser() -> None:
    """What is sealed to go on elsewhere brings everything along, and the organisation takes the file whole."""
    batch = batch_of(items_of(4), salt=SALT, looks=0)
    request = {
        "batch": _plain(batch.archive),
        "person": tag(CODE, SALT),
        "words": catalogue("en"),
        "readme": README,
        "list": " ".join(LIST),
    }
    (found,) = in_node("goOn", [request], HERE / "ask.js")
    opened = open_ratings(base64.b64decode(found["bytes"]["$"]), CUSTODIANS)
    report = merge([], opened.lines)
    assert (opened.phrase(), len(report.added), report.damaged) == (found["phrase"], found["events"], ())
    assert (found["done"], report.chains.whole) == (2, True)
    assert {event.device for event in report.added} == set(found["devices"])


def test_records_open_only_at_their_place() -> None:
    moved, opened = ask("record", ["1", "2"], ["1", "1"])
    assert (moved.keys(), opened) == ({"refused"}, "text")
