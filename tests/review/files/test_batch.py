"""Batch files: what the organisation wrote arrives unchanged, or is refused in words, whatever byte was changed."""

import hashlib
import io
import json
import random
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.canonical import canonical_bytes
from harness.sealed.archive import pack
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity, lock_of, seal
from harness.sealed.strict_records import FileError, FileProblem
from review.files.batch import Batch, make_batch, open_batch, write_batch
from review.files.identities import place_of
from review.files.manifests import BatchItem, OthersWords, SentenceContext, wording
from review.files.ratings import open_ratings, sign_ratings
from review.rating import Reason
from tests.harness.sealed.refusals import refuses
from tests.review.files.made import (
    LAPTOP,
    ORGANISATION,
    PEOPLE,
    RECOVERY,
    REVIEWERS,
    SALT,
    batch,
    events,
    identifier,
    items,
    manifest,
    training,
)
from tests.review.thorough import examples, times

WORDS = "kizun gorot sapos gipad"


def refused(data: bytes, *identities: AgeIdentity, passphrase: str | None = None) -> FileError:
    return refuses(FileError, r"[.)]$", open_batch, data, identities, passphrase)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def members_of(made: Batch) -> dict[str, bytes]:
    plain = zipfile.ZipFile(io.BytesIO(made.archive))
    return {name: plain.read(name) for name in plain.namelist()}


PLACES = [place_of(person) for person in PEOPLE]


def changed(**changes: Any) -> bytes:
    plain = members_of(batch())
    stated = json.loads(plain.pop("manifest.json"))
    del plain["manifest.sig"]
    members = {name: changes.pop(name, content) for name, content in plain.items()}
    members = {name: content for name, content in members.items() if content is not None}
    stated = stated | changes | {"members": {name: sha256(each) for name, each in members.items()}}
    content = canonical_bytes(stated)
    return pack({**members, "manifest.json": content, "manifest.sig": ORGANISATION.sign(content)})


def test_a_batch_comes_back_as_it_was_made() -> None:
    made = batch()
    opened = open_batch(write_batch(made))
    assert (opened, opened.items, opened.training) == (made, tuple(items()), tuple(training()))
    assert opened.manifest == manifest(members=opened.manifest.members)
    assert opened.sha256 == sha256(opened.manifest_bytes)
    assert opened.organisation_phrase == ORGANISATION.public.phrase


def test_same_input_gives_the_same_pinned_bytes() -> None:
    for version, pinned in (
        (3, "c06b494876c4f01b8ab93179b6fdf7d9a03a7900b01c6fcca5add4c06c37f662"),
        (2, "f1419f8bd42d6fbdff54d7c3860f4bc0232884b4059016cb742b9cb885c12a12"),
        (1, "9e17dc0c72bec5044d03b4372385315c4bf95d78750cc25f218ff0b39d751c9f"),
    ):
        form = {"format": f"rosetta-batch/{version}"}
        assert batch(**form).archive == batch(**form).archive
        assert sha256(batch(**form).archive) == pinned


def test_file_of_before_tasks_and_letters_is_read_as_it_was() -> None:
    """The hash is that of the file which the version before wrote."""
    members = members_of(batch(format="rosetta-batch/1"))
    said = json.loads(members["manifest.json"])
    del said["task"], said["letters"]
    members["manifest.json"] = canonical_bytes(said)
    members["manifest.sig"] = ORGANISATION.sign(members["manifest.json"])
    before = pack(members)
    assert sha256(before) == "98257c88d35019e96013f7629b04260489cdf76f45565b036de30184f95da993"
    opened = open_batch(before)
    assert (opened.manifest.task, opened.manifest.letters) == ("rate", ())
    assert opened.items == tuple(items())


@examples(25, 100)
@given(
    st.lists(
        st.tuples(st.text(max_size=60), st.text(max_size=60)).filter(
            lambda pair: not any("\ud800" <= letter <= "\udfff" for letter in pair[0] + pair[1])
        ),
        min_size=1,
        max_size=5,
    )
)
def test_any_text_arrives_as_it_was(texts: list[tuple[str, str]]) -> None:
    given_items = [
        BatchItem(id=identifier(str(number)), source=source, candidate=candidate)
        for number, (source, candidate) in enumerate(texts)
    ]
    orders = {PLACES[0]: tuple(item.id for item in given_items)}
    made = make_batch(manifest(orders=orders), given_items, [], ORGANISATION, SALT)
    assert open_batch(write_batch(made)).items == tuple(given_items)


def test_secret_batch_opens_for_laptops_or_with_words_alone() -> None:
    data = write_batch(batch(secret=True), recipients=[LAPTOP.public.recipient])
    assert lock_of(data) is not None
    assert lock_of(write_batch(batch())) is None
    assert open_batch(data, [RECOVERY, LAPTOP.age]).manifest.secret
    assert refused(data, RECOVERY).problem is FileProblem.WRONG_KEY
    assert refused(data).problem is FileProblem.WRONG_KEY
    for text in ("I saw his dog", "Traduko", "council", REVIEWERS[0]):
        assert text.encode() not in data
    data = write_batch(batch(secret=True), passphrase="Kizun Gorot Sapos Gipad")
    assert open_batch(data, passphrase=" kizun-gorot sapos,gipad ").manifest.secret
    assert refused(data).problem is FileProblem.LOCKED
    assert refused(data, LAPTOP.age).problem is FileProblem.LOCKED
    assert refused(data, passphrase="kizun gorot sapos gipaf").problem is FileProblem.WRONG_KEY
    refuses(FileError, "secret sentences", write_batch, batch(secret=True))
    refuses(FileError, "too short", write_batch, batch(secret=True), passphrase="house")
    refuses(FileError, "no age recipient", write_batch, batch(secret=True), recipients=["age1nobody"])
    with pytest.raises(FileError, match="either for laptops or with"):
        write_batch(batch(), recipients=[LAPTOP.public.recipient], passphrase=WORDS)
    assert "not sealed" in str(refused(batch(secret=True).archive))


def test_another_key_cannot_sign_and_nothing_is_not_made() -> None:
    other, plain = Identity.make(Role.ORGANISATION), members_of(batch())
    refuses(FileError, "another organisation's signing key", make_batch, manifest(), items(), training(), other)
    forged = pack(plain | {"manifest.sig": other.sign(plain["manifest.json"])})
    assert refused(forged).problem is FileProblem.DAMAGED
    for name in ("items.jsonl", "training.jsonl", "README.txt"):
        assert refused(pack(plain | {name: plain[name] + b"\n"})).problem is FileProblem.DAMAGED
    refuses(FileError, "nothing to do", make_batch, manifest(), [], [], ORGANISATION, SALT)
    refuses(FileError, "not there", make_batch, manifest(), items()[:1], [], ORGANISATION, SALT)


ITEM = canonical_bytes(items()[0].model_dump())
ORDER = [item.id for item in items()]
BARE = canonical_bytes(items()[0].model_dump() | {"candidate": ""}) + b"\n"


def organisation(*recipients: str) -> dict[str, Any]:
    return {"organisation": {**manifest().organisation.model_dump(), "recipients": [*recipients]}}


def lesson(**changes: object) -> dict[str, Any]:
    return {"training.jsonl": canonical_bytes(training()[0].model_dump() | changes) + b"\n"}


def listed(*lines: bytes) -> dict[str, Any]:
    return {"items.jsonl": b"".join(line + b"\n" for line in lines)}


MANY = [canonical_bytes({"id": f"{n:016x}", "source": "", "candidate": ""}) for n in range(5_001)]
EMPTY = canonical_bytes({"id": ORDER[0], "source": " ", "candidate": ""})
ONE = {"orders": {PLACES[0]: [ORDER[0]]}}
FIRST = {"format": "rosetta-batch/1"}
INVALID: dict[str, tuple[dict[str, Any], str]] = {
    "no item": ({"items.jsonl": b""}, "nothing to do"),
    "an id twice": (listed(ITEM, ITEM), "same id"),
    "an item as training": (lesson(id=ORDER[0]), "same id"),
    "an item that is none": (listed(b"{}"), r"items\.jsonl: line 1: field 'id'"),
    "a second line that is no JSON": (listed(ITEM, b"I saw his dog."), r"items\.jsonl: line 2"),
    "an item with a score": (listed(ITEM[:-1] + b',"score":0.9}'), r"line 1: field 'score' is not known"),
    "no last line feed": ({"items.jsonl": ITEM}, "no end"),
    "a text that is too long": (listed(ITEM.replace(b"Traduko", b"a" * 20_001)), "line 1: field 'candidate'"),
    "half a surrogate pair": (listed(ITEM.replace(b"Traduko", b"\\ud800")), "line 1"),
    "too many items": (listed(*MANY), "more than 5,000 lines"),
    "a rating that is none": (lesson(rating="best"), r"training\.jsonl: line 1: field 'rating'"),
    "an order of nothing": ({"orders": {PLACES[0]: []}}, "has nothing to do"),
    "an order of strangers": ({"orders": {PLACES[0]: ["0" * 16]}}, "not there"),
    "an order with a repeat": ({"orders": {PLACES[0]: [ORDER[0]] * 2}}, "same item twice"),
    "no order": ({"orders": {}}, "field 'orders'"),
    "a code in the open": ({"orders": {REVIEWERS[0]: ORDER}}, "names a reviewer openly"),
    "a tag in the open": ({"orders": {PEOPLE[0]: ORDER}}, "names a reviewer openly"),
    "another salt": ({"salt.txt": b"00\n"}, r"salt\.txt: not 64"),
    "a code without a check": (FIRST | {"orders": {"AAAAAAAA": ORDER}, "salt.txt": None}, "no reviewer's code"),
    "a salt in the first version": (FIRST | {"orders": {REVIEWERS[0]: ORDER}}, r"salt\.txt: a batch has one from version 2 on"),
    "no salt": ({"salt.txt": None}, r"salt\.txt: a batch has one"),
    "a reviewer's name": ({"orders": {"Maria": ORDER}}, "field 'orders"),
    "one recipient": (organisation(RECOVERY.recipient), "field 'organisation.recipients'"),
    "one recipient twice": (organisation(*[RECOVERY.recipient] * 2), "one key only"),
    "a recipient that is none": (organisation(RECOVERY.recipient, "age1nobody"), "no age recipient"),
    "a task that is none": ({"task": "guess"}, "field 'task'"),
    "translations given away": ({"task": "translate", "training.jsonl": b""}, "gives some"),
    "training for translators": ({"task": "translate", "items.jsonl": BARE} | ONE, "training for ratings"),
    "nothing to translate": ({"task": "translate", "training.jsonl": b""} | listed(EMPTY) | ONE, "is empty"),
    "more letters than a row has": ({"letters": ["â"] * 141}, "field 'letters'"),
    "a letter that is a text": ({"letters": ["abcdefghi"]}, "field 'letters"),
    "a letter that acts": ({"letters": ["\u202e"]}, "letters would act"),
    "a system's name": ({"system": "gpt"}, "field 'system' is not known"),
    "another kind of truth": ({"secret": "no"}, "field 'secret'"),
}  # fmt: skip


@pytest.mark.parametrize("what", INVALID)
def test_batch_that_contradicts_itself_is_refused(what: str) -> None:
    changes, said = INVALID[what]
    error = refused(changed(**changes))
    assert error.problem in {FileProblem.INVALID, FileProblem.TOO_LARGE}
    assert re.search(said, str(error))
    assert "dog" not in str(error)


def test_other_kinds_and_versions_are_named() -> None:
    for stated, problem in (
        ("rosetta-batch/4", FileProblem.NEWER), ("rosetta-batch/10", FileProblem.NEWER),
        ("rosetta-ratings/1", FileProblem.NOT_OURS), ("rosetta-batch", FileProblem.NOT_OURS),
        (None, FileProblem.NOT_OURS), (7, FileProblem.NOT_OURS),
    ):  # fmt: skip
        assert refused(changed(format=stated)).problem is problem, stated


def test_manifest_has_one_form_and_a_hostile_one_is_refused() -> None:
    """Two programs must not read two things in it, even where its signer wants that."""
    plain = members_of(batch())
    for content in (
        b"[" * 1_000_000, b"", b"null", b"\xff", b'{"format":' * 500, b"9" * 10_000, b'{"a":1,"a":2}',
    ):  # fmt: skip
        refused(pack(plain | {"manifest.json": content}))
    own = plain["manifest.json"]
    for other in (own + b"\n", b" " + own, b'{"format":"rosetta-batch/2",' + own[1:]):
        forged = plain | {"manifest.json": other, "manifest.sig": ORGANISATION.sign(other)}
        assert "canonical" in str(refused(pack(forged)))


def test_batch_names_nobody_but_finds_who_types_a_code() -> None:
    made = batch()
    plain = zipfile.ZipFile(io.BytesIO(made.archive))
    every = b"".join(plain.read(name) for name in plain.namelist())
    for code, person in zip(REVIEWERS, PEOPLE, strict=True):
        assert code.encode() not in every
        assert person.encode() not in every
        assert made.person(code) == person
        assert made.manifest.order(person)
        assert made.manifest.order(code) == ()
        assert made.manifest.order(place_of(person)) == ()
    assert made.person("YBKCTGFM") is None
    first = batch(format="rosetta-batch/1")
    assert (first.salt, first.person(REVIEWERS[0])) == (b"", REVIEWERS[0])
    assert first.manifest.order(REVIEWERS[1]) == made.manifest.order(PEOPLE[1])
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    derived = Scrypt(salt=SALT, length=16, n=2**14, r=8, p=1).derive(REVIEWERS[0].encode())
    assert PEOPLE[0] == derived.hex()
    assert place_of(PEOPLE[0]) == hashlib.sha256(f"rosetta person {derived.hex()}".encode()).hexdigest()


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_in_words(noise: bytes) -> None:
    for data in (noise, b"PK\3\4" + noise, b"age-encryption.org/v1\n" + noise):
        refused(data, LAPTOP.age, passphrase=WORDS)


def test_version_3_comes_back_and_stands_in_no_earlier_one() -> None:
    around = SentenceContext(context="greeting", formality="formal", before="Hello.", after="Bye.")
    said = (OthersWords(reasons=(Reason.GRAMMAR,), comment="too formal", suggestion="Saluton."),)
    shown = [items()[0].model_copy(update={"around": around, "others": said}), *items()[1:]]
    lessons = [training()[0].model_copy(update={"explanations": {"fr": "Rien ne manque."}})]
    added = {
        "translations": {"fr": {"consent": "Nous vous demandons."}, "es": {"guide": "Lea."}},
        "shows_words": True,
        "second_of": identifier("before"),
    }
    made = make_batch(manifest(**added), shown, lessons, ORGANISATION, SALT)
    assert open_batch(write_batch(made)) == made
    for parts in (shown, training()), (items(), lessons):
        with pytest.raises(FileError, match="more than its version has"):
            make_batch(manifest(format="rosetta-batch/2"), *parts, ORGANISATION, SALT)
    refuses(ValueError, "later version", manifest, format="rosetta-batch/2", shows_words=True)
    refuses(FileError, "no second look", make_batch, manifest(), shown, [], ORGANISATION, SALT)
    with pytest.raises(FileError, match="in one language twice"):
        make_batch(manifest(translations={"en": {"guide": "x"}}), items(), [], ORGANISATION, SALT)


def test_a_text_is_given_in_the_nearest_language() -> None:
    for wanted, shown in (
        ("en", "en"), ("en-GB", "en"), ("fr", "fr"), ("fr-CA", "fr-CA"), ("fr-BE", "fr"),
        ("FR-ca", "fr-CA"), ("pt", "pt-BR"), ("crk", "en"), ("es", "en"), ("e", "en"),
    ):  # fmt: skip
        given = {"fr-CA": "fr-CA", "fr": "fr", "pt-BR": "pt-BR", "es": " "}
        assert wording("en", "en", given, wanted) == (shown, shown)
        assert wording("", "en", {"fr": "b", "es": "a"}, "en") == ("a", "es")  # in others alone
        assert wording("", "en", {}, "fr") == ("", "en")


LEAST = batch()
RECIPIENTS = LEAST.manifest.organisation.recipients
Opening = Callable[[bytes], object]

FILES: dict[str, tuple[bytes, Opening]] = {
    "plain batch": (write_batch(LEAST), open_batch),
    "batch for a laptop": (
        write_batch(LEAST, recipients=[LAPTOP.public.recipient]),
        lambda data: open_batch(data, [LAPTOP.age]),
    ),
    "ratings": (
        seal(sign_ratings(events(2), LEAST, LAPTOP), RECIPIENTS),
        lambda data: open_ratings(data, [ORGANISATION.age]),
    ),
}


def refuse(opening: Opening, data: bytes) -> None:
    refused = refuses(FileError, "", opening, data)
    said = str(refused)
    assert said.endswith(".")
    assert len(said.split()) > 4


@pytest.mark.parametrize("kind", FILES)
def test_every_changed_byte_is_found(kind: str) -> None:
    whole, opening = FILES[kind]
    opening(whole)
    for place in range(0, len(whole), times(17, 1)):
        for value in random.Random(place).sample(range(1, 256), times(1, 255)):
            refuse(opening, whole[:place] + bytes([whole[place] ^ value]) + whole[place + 1 :])


@pytest.mark.parametrize("kind", FILES)
def test_every_cut_missing_and_doubled_byte_is_found(kind: str) -> None:
    whole, opening = FILES[kind]
    for place in range(0, len(whole), times(29, 1)):
        refuse(opening, whole[:place])
        refuse(opening, whole[:place] + whole[place + 1 :])
        refuse(opening, whole[:place] + whole[place : place + 1] + whole[place:])


LOOK = """
import sys
import review.files.batch, harness.sealed.stick, review.files.identities, review.files.ratings
print(*sorted({"cryptography", "filelock", "keyring", "numpy", "pyrage"} & set(sys.modules)))
"""


def test_heavy_libraries_wait_until_they_are_needed() -> None:
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
