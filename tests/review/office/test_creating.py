"""Making a review: blind to reviewers, repeatable from its seed, sealed where it must be; the letters that it brings."""

import json
import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Segment
from corpora.text.visible import plain
from harness.card.checking.verify_card import seal
from harness.core.failures import HarnessError, UsageError
from harness.method.options import MethodOptions
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity
from harness.sealed.strict_records import FileError
from harness.setup.plan import Plan
from harness.store.runs import find_run, read_card
from harness.store.sqlite.database import open_store
from review.files.batch import open_batch, write_batch
from review.files.manifests import LONGEST_LETTER, MOST_LETTERS
from review.office.making.batches import PreparedReview, letters_of
from review.office.making.creating import ReviewDraft
from review.office.making.publishing import Protection, Published, publish
from review.office.making.reviewed_runs import of_corpus, read_runs
from review.office.making.texts import check_words, languages, review_name, review_texts
from review.office.store.store import Office
from review.verdict.gate.policy import proposed
from tests.corpora.tasks.records import corpus_of
from tests.harness.card import factory
from tests.harness.evaluation import run_corpus
from tests.harness.sealed.refusals import refuses
from tests.review.office import made
from tests.review.office.secret_entries import secret_entries
from tests.review.thorough import examples


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    outputs = [[made.demo_outputs(weak)[e.id] for e in made.demo_entries()] for weak in (False, True)]
    made.store_runs(folder, outputs=outputs)
    return folder


@pytest.fixture(scope="module")
def draft(home: Path) -> ReviewDraft:
    return made.draft(made.reviewed(home, made.RUNS), items=40)


@pytest.fixture(scope="module")
def identity() -> Identity:
    return Identity.make(Role.ORGANISATION)


def test_several_runs_are_asked_about_the_same_entries(draft: ReviewDraft) -> None:
    entries = {run: {item.truth.entry for item in draft.real if item.truth.run_id == run} for run in made.RUNS}
    assert entries[made.RUNS[0]] == entries[made.RUNS[1]] == {entry.id for entry in draft.entries}
    assert len(draft.real) == 80


def test_file_tells_no_system_or_score(home: Path, draft: ReviewDraft, identity: Identity) -> None:
    """The file's own bytes are searched; its archive is stored uncompressed."""
    [batch] = made.made(draft, identity).batches
    data = write_batch(batch)
    with closing(open_store(home / "rosetta.sqlite")) as connection:
        runs = [find_run(connection, name) for name in made.RUNS]
        cards = [read_card(connection, run.id) or {} for run in runs]
    facts = {fact for run in runs for fact in (run.run_id, run.setup.model_slug, run.setup_hash)}
    facts |= {str(card["run_card_hash"]) for card in cards} | {"chrf", "composite", "verda", "griza"}
    shown = {text for item in draft.items for text in (item.shown.source, item.shown.candidate)}
    shown |= {text for item in draft.training for text in (item.source, item.candidate)}
    facts |= {
        text
        for entry in draft.runs.corpus.values()
        for text in (entry.reference, entry.notes, entry.morphological_analysis)
        if text and len(text) > 12 and not any(text in each for each in shown)
    }
    assert len(facts) > 80
    for fact in facts:
        assert json.dumps(fact, ensure_ascii=False)[1:-1].encode() not in data, fact
    words = ("control", "anchor", "made_by", "partner", "stratum", "reference", "run_id")
    assert [word for word in words if word.encode() in data] == []


def test_all_but_ids_and_codes_follow_the_seed(draft: ReviewDraft, identity: Identity) -> None:
    [batch] = made.made(draft, identity).batches
    assert [item.id for item in batch.items] == sorted(item.id for item in draft.items)
    again = made.draft(draft.runs, draft.seed, items=40)
    assert not {item.id for item in again.items} & {item.id for item in draft.items}

    def story(each: ReviewDraft) -> list[list[tuple[str, str]]]:
        texts = {item.id: (item.shown.source, item.shown.candidate) for item in each.items}
        return [[texts[item] for item in order] for order in each.orders.values()]

    other = made.draft(draft.runs, draft.seed + 1, items=40)
    assert sorted(map(sorted, story(again))) == sorted(map(sorted, story(draft)))
    assert sorted(map(sorted, story(other))) != sorted(map(sorted, story(draft)))


def test_the_key_names_cards_weights_and_segments(draft: ReviewDraft, identity: Identity) -> None:
    ready = made.made(draft, identity)
    key = ready.key
    assert [run.run_id for run in key.runs] == list(made.RUNS)
    assert (sum(key.runs[0].strata.values()), sum(key.runs[0].segments.values())) == (96, 40)
    assert set(key.core) == {item.id for item in draft.real}
    assert {ready.codes[person]: order for person, order in key.orders.items()} == draft.orders


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> ReviewDraft:
    folder = tmp_path_factory.mktemp("secret")
    entries = secret_entries()
    made.store_runs(folder, entries, [[made.demo_outputs()[entry.id] for entry in entries]])
    with closing(open_store(folder / "rosetta.sqlite")) as connection:
        return made.draft(read_runs(connection, made.RUNS[:1], [Segment.GOLD_STANDARD]))


def test_no_gold_reference_is_in_a_secret_batch_unless_output(secret: ReviewDraft) -> None:
    assert secret.secret
    assert {entry.segment for entry in secret.entries} == {Segment.GOLD_STANDARD}
    outputs = {item.shown.candidate for item in secret.real}
    for item in secret.controls.items:
        entry = secret.runs.corpus[item.truth.entry]
        if entry.secret:
            assert item.shown.candidate != entry.reference or entry.reference in outputs
    for lesson in secret.training:
        assert lesson.source not in {entry.source for entry in secret.entries}


def published(office: Office, ready: PreparedReview, to: Path, cards: Path, *words: bool) -> Published:
    protection, (_, policy) = Protection(passphrases=any(words)), proposed()
    return publish(office, ready, policy, review_texts("en"), protection, to, cards, repr)


def test_secret_batch_is_never_open(secret: ReviewDraft, identity: Identity, tmp_path: Path) -> None:
    ready, laptop = made.made(secret, identity), AgeIdentity.make()
    [batch] = ready.batches
    data = write_batch(batch, recipients=[laptop.recipient])
    assert open_batch(data, [laptop]).items == batch.items
    refuses(FileError, "", open_batch, data, [AgeIdentity.make()])
    with Office.open(tmp_path) as office:
        refuses(FileError, "secret", published, office, ready, tmp_path / "out", tmp_path / "cards.txt")
        assert not office.reviews()
    assert not (tmp_path / "out").exists()


def test_secret_batch_opens_with_words(secret: ReviewDraft, identity: Identity, tmp_path: Path) -> None:
    ready = made.made(secret, identity, one_each=True)
    with Office.open(tmp_path) as office:
        done = published(office, ready, tmp_path / "out", tmp_path / "cards" / "demo.txt", True)
        assert (len(done.files), done.review.key.batches) == (5, tuple(done.review.manifests))
    sheet = done.cards.read_text("utf-8")
    assert identity.public.phrase in sheet
    words = re.findall(r"words='([a-z ]+)'", sheet)[0]
    data = done.files[0].read_bytes()
    source = secret.entries[0].source.encode()
    assert source not in data
    opened = open_batch(data, passphrase=words)
    assert len(opened.manifest.orders) == 1
    refuses(FileError, "", open_batch, done.files[1].read_bytes(), passphrase=words)


def test_unwritten_file_keeps_nothing(draft: ReviewDraft, identity: Identity, tmp_path: Path) -> None:
    ready = made.made(draft, identity)
    out, cards, file = (tmp_path / name for name in ("out", "cards.txt", "file"))
    out.mkdir()
    cards.write_text("mine", "utf-8")
    file.write_text("x", "utf-8")
    with Office.open(tmp_path) as office:
        for to, at in ((out, cards), (file, tmp_path / "new.txt")):
            refuses((OSError, HarnessError), r"there already|file", published, office, ready, to, at)
            assert not office.reviews()
    assert not list(out.iterdir())


def test_what_was_kept_comes_back(draft: ReviewDraft, identity: Identity, tmp_path: Path) -> None:
    ready = made.made(draft, identity)
    _, policy = proposed()
    with Office.open(tmp_path) as office:
        office.create_review(ready.key, policy, ready.manifests, ready.texts)
        refuses(UsageError, "already", office.create_review, ready.key, policy, ready.manifests, ready.texts)
    with Office.open(tmp_path) as office:
        review = office.review("last")
        assert review.key == ready.key
        assert (review.policy, review.signed) == (policy, ready.manifests)
        assert review.changed == ()
        assert review.policy_sha256 == review.manifest.policy_sha256
        assert review.key.batch_sha256 == {
            batch: sha256(manifest).hexdigest() for batch, manifest in review.manifests.items()
        }
        assert {id_: (t.source, t.candidate) for id_, t in review.texts.items()} == {
            item.id: (item.shown.source, item.shown.candidate) for item in draft.items
        }
        assert office.review("de").name == "demo"
        refuses(UsageError, "no review", office.review, "nothing")
        refuses(UsageError, "no review", office.review, "")
        assert office.events(review) == []
    assert (tmp_path / "reviews.sqlite").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("outputs", "sealed", "words"),
    [
        (("a", "b", None, "d"), True, "flatter"),
        (("a", "b", "  ", "d"), True, "flatter"),
        (("a", "b", "c", "d"), False, "not complete"),
    ],
    ids=["failed", "blank", "unsealed"],
)
def test_runs_that_a_verdict_could_not_rest_on_are_refused(
    tmp_path: Path, outputs: Sequence[str | None], sealed: bool, words: str
) -> None:
    with factory.store(tmp_path) as connection:
        number = factory.add_run(connection, outputs=outputs)
        if sealed:
            seal(connection, number)
    refuses(UsageError, words, made.reviewed, tmp_path)


RECORD = {"source": "Who?", "reference": "Anna", "predicted": "Anna"}
OTHER_TASK = r"The task of the corpus is qa, .* rate or write translations.*`rosetta score`"


def test_outputs_and_questions_of_another_task_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    options = MethodOptions(source_language="en", target_language="crk", task="qa")
    run_corpus(path, corpus_of("qa", RECORD), Plan(method="replay", options=options))
    with closing(open_store(path)) as connection, pytest.raises(UsageError, match=OTHER_TASK):
        read_runs(connection, ["last"])
    refuses(UsageError, OTHER_TASK, of_corpus, corpus_of("qa", RECORD))
    assert of_corpus(corpus_of("translation", RECORD)).entries


def test_names_are_free_and_silent_about_systems(home: Path, tmp_path: Path, draft: ReviewDraft) -> None:
    with Office.open(tmp_path) as office:
        assert review_name(office, None, "eo demo/v1") == "eo-demo-v1-1"
        assert review_name(office, "spring", "x") == "spring"
        assert review_name(office, None, "con.texts") == "review-con.texts-1"
        for bad in ("../x", "a b", "", "last", "x" * 61, "con", "aux.one", "lpt1", "spring."):
            refuses(UsageError, "--name", review_name, office, bad, "x")
    model = draft.runs.runs[0].run.setup.model_slug
    refuses(UsageError, "--title", check_words, draft.runs, {"--title": f"Judge {model}!"})
    check_words(draft.runs, {"--title": "Judge these"})


def test_words_for_reviewers_are_whole_in_every_language() -> None:
    for language in languages():
        texts = review_texts(language)
        assert set(texts.training) == {"half", "reject"}
        assert all(all(asdict(card).values()) for card in texts.cards)
        assert "{organisation}" in texts.consent
    assert "cannot be called back" in review_texts("en").consent
    assert "rappelées" in review_texts("fr-CA").consent
    refuses(UsageError, "en, fr", review_texts, "tlh")


def test_letters_of_a_language_or_those_in_use() -> None:
    for tag, letters in (
        ("crk-Latn", "â ā ê ē î ī ô ō ý ʼ"),
        ("crk", "â ā ê ē î ī ô ō ý ʼ"),
        ("eo", "ĉ ĝ ĥ ĵ ŝ ŭ"),
        ("gn", "á ã é ẽ g̃ í ĩ ñ ó õ ú ũ ý ỹ ʼ"),
        ("haw", "ā ē ī ō ū ʻ"),
        ("qu-PE", "ñ"),
        ("en", ""),
        ("zh", ""),  # typed by composing
        ("nsk", ""),  # no card, and nothing is written
    ):
        assert letters_of(tag) == tuple(letters.split()), tag
    for tag, count in (("ru", 33), ("ar", 45), ("hi", 66)):
        assert len(letters_of(tag)) == count, "an alphabet without a to z comes whole"
    for tag, count in (("crk-Cans", 134), ("iu", 125)):
        assert len(letters_of(tag)) == len(letters_of(tag, ["ᐊ"])) == count
    for tag, text, letters in (
        ("hur", "X̌e te G̱ʷən ƛ̓a, ʔəy̓ “tst’e”! ÁÉ", "á é g̱ x̌ y̓ ƛ̓ ə ʔ ʷ"),
        ("nsk", "ᒥᓯᐌ ᐃᔨᓅ (ok) ᐌ", "ᐃ ᐌ ᒥ ᓅ ᓯ ᔨ"),
        ("ckb", "زمانی کوردی، ١٢", "ا د ر ز م ن و ک ی"),
        ("ur-Arab", "\u0628\u064e\u0628", "\u0628 \u064e"),
        ("nsk-Cans", "ᒥ жд plain", "ᒥ"),  # another script's letters are noise of a machine
        ("yue", "我哋去食飯", ""),
        ("xh", "Plain letters only", ""),
        ("nsk", "ᒥ\ufe0f ᒥ\u034f\u200c ᒥ\u200d", "ᒥ"),  # marks that nobody sees
    ):
        assert letters_of(tag, [text]) == tuple(letters.split()), tag
    assert letters_of("crk", ["ᒥᓯᐌ"])[0] == "ᐁ"
    assert letters_of("crk", ["Нипи жук"]) == tuple("жикнпу")
    assert letters_of("en", ["naïve café"]) == ()


def test_of_more_letters_than_fit_those_in_use_come_in_order() -> None:
    text = "ᐊᓂᔑᓈᐯᒧᐎᓐ ᒥᓄ ᑮᔑᑲᑦ"  # ᑦ and ᓐ stand beyond the first 140 of the card
    found = letters_of("oj", [text])
    assert len(found) == MOST_LETTERS
    assert {*text} - {" "} <= {*found}
    assert (letters_of("oj-Cans", ["".join(found)]), list(found[:4])) == (found, [*"ᐁᐃᐄᐅ"])
    assert letters_of("oj-Cans") == ()
    many = [chr(0x1401 + n) for n in range(400)]
    found = letters_of("nsk", ["".join(many), "".join(many[300:360])])
    assert len(found) == MOST_LETTERS
    assert {*many[300:360]} <= {*found}
    assert list(found) == sorted(found)


@examples(30, 100)
@given(st.text(max_size=300), st.sampled_from(["nsk", "crk", "ar-Arab", "nsk-Latn"]))
def test_any_text_gives_letters_that_fit_a_batch(text: str, tag: str) -> None:
    found = letters_of(tag, [text])
    assert len(found) == len(set(found)) <= MOST_LETTERS
    for letter in found:
        assert 0 < len(letter) <= LONGEST_LETTER
        assert not letter.isascii()
        assert plain(letter) == letter  # a batch with one that acts is refused


def test_a_new_batch_brings_them(tmp_path: Path) -> None:
    made.store_runs(tmp_path)
    ready = made.made(made.draft(made.reviewed(tmp_path)), Identity.make(Role.ORGANISATION))
    assert {each.manifest.letters for each in ready.batches} == {letters_of("eo")}
    assert {each.manifest.task for each in ready.batches} == {"rate"}
