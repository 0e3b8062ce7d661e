"""Asking for translations: who gets what, what comes back, and which of it becomes a corpus."""

from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from corpora.formats.load import load
from corpora.formats.write import write
from corpora.model.corpus import Corpus, Form
from corpora.model.entry import Segment
from corpora.samples import DEMO_CORPUS, sample_path
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from review.files.batch import open_batch, write_batch
from review.log.payloads import Adjudicate, Rate, Translate
from review.office.making.controls import fits
from review.office.making.creating import Share, draft_translations
from review.office.making.reviewed_runs import of_corpus, of_lines
from review.office.making.texts import languages, review_texts
from review.office.results.progress import progress
from review.office.results.results import require_runs, runs_of
from review.rating import CannotJudge, Rating
from review.session.words.catalogue import Words
from review.verdict.certificate.evidence import read_key
from tests.harness.sealed.refusals import refuses
from tests.review.office import made
from tests.review.office.made import WALL, Person
from tests.review.office.school import Translator, Written, desk, opened, sentences

__all__ = ["desk"]


def test_lines_are_sentences_each_once_or_refused(tmp_path: Path) -> None:
    found = sentences(tmp_path)
    assert [(entry.id, entry.source) for entry in found.entries] == [
        (1, "I saw his dog."), (2, "Where are you going?"), (4, "It is raining."), (6, "Good."),
    ]  # fmt: skip
    assert (found.repeated, found.dataset.language_pair) == (1, "EN→CRK")
    path = tmp_path / "s.txt"
    for content, said in (
        (b"good\n\xff\n", "line 2: not UTF-8"),
        (b"\n \n", "no sentence"),
        (b"a\n" + b"x" * 4001, "line 2: 4,001 characters"),
        (b"a\nb\x1b[2J", "line 2: a control character"),
    ):
        path.write_bytes(content)
        refuses(UsageError, said, of_lines, path, "en", "crk")
    for source, target, said in (("en", None, "--target-language"), ("my english", "crk", "not a language tag")):
        refuses(UsageError, said, of_lines, path, source, target)


DEMO = load(sample_path(DEMO_CORPUS))


def test_answers_of_a_corpus_do_not_travel(tmp_path: Path) -> None:
    given = of_corpus(DEMO, [Segment.DEVELOPMENT])
    batch = opened(tmp_path, given, Share(2, items=10)).batch
    assert all(not item.candidate for item in batch.items)
    shown = {item.source for item in batch.items}
    assert not shown & {entry.reference for entry in DEMO.entries}
    assert open_batch(write_batch(batch)).archive == batch.archive
    assert batch.manifest.letters == ("ĉ", "ĝ", "ĥ", "ĵ", "ŝ", "ŭ")


def test_the_letters_are_those_of_the_script_that_the_corpus_is_in(tmp_path: Path) -> None:
    entries = tuple(e.model_copy(update={"reference": "ᓂᐚᐸᒫᐤ ᐊᑎᒼ"}) for e in DEMO.entries[:5])
    cree = DEMO.dataset.model_copy(update={"target_language": "crk"})
    batch = opened(tmp_path, of_corpus(Corpus(cree, entries, "", Form.JSONL)), Share(2)).batch
    assert {*"ᓂᐚᐸᒫᐤᐊᑎᒼ"} <= {*batch.manifest.letters}
    assert "ᐸᒫᐤ" not in batch.archive.decode("utf-8", "replace")


def test_blank_and_secret_sentences_are_handed_to_nobody() -> None:
    for blank in ("", " \t", "\u200b"):
        lacking = tuple(e.model_copy(update={"source": blank}) for e in DEMO.entries[:2])
        given = of_corpus(Corpus(DEMO.dataset, (*lacking, *DEMO.entries[2:]), "", Form.JSONL))
        assert [each.id for each in given.entries] == [each.id for each in DEMO.entries[2:]]
        assert not fits(blank)
        refuses(UsageError, "no entry with a source", of_corpus, Corpus(DEMO.dataset, lacking, "", Form.JSONL))
    secret = tuple(e.model_copy(update={"segment": Segment.HELD_OUT}) for e in DEMO.entries[:2])
    mixed = Corpus(DEMO.dataset, (*secret, *DEMO.entries[2:]), "", Form.JSONL)
    error = refuses(UsageError, "2 of these sentences belong to secret segments", of_corpus, mixed)
    assert secret[0].source not in str(error)
    refuses(UsageError, "no entry", of_corpus, DEMO, [Segment.GOLD_STANDARD])
    given = of_corpus(DEMO, [Segment.DEVELOPMENT])
    assert given.entries
    assert all(not entry.reference for entry in given.entries), "entries have no answers"


def test_everybody_gets_their_share_and_too_much_is_refused(tmp_path: Path) -> None:
    given = sentences(tmp_path, [f"Sentence {n}." for n in range(20)])
    for share, each, asked in (
        (Share(3), {20}, {3}),
        (Share(4, per_person=5), {5}, {1}),
        (Share(4, per_person=10), {10}, {2}),
        (Share(2, core=4, per_person=8), {12}, {1, 2}),
        (Share(1, items=7), {7}, {1}),
    ):
        draft = draft_translations(given, share, 1)
        assert {len(order) for order in draft.orders.values()} == each
        times = Counter(item for order in draft.orders.values() for item in order)
        assert (set(times.values()), set(times)) == (asked, {item.id for item in draft.items})
        again = draft_translations(given, share, 1)
        assert [entry.id for entry in again.entries] == [entry.id for entry in draft.entries]
    given = sentences(tmp_path)
    for share, said in (
        (Share(0), "--reviewers"),
        (Share(2, items=5001), "--items"),
        (Share(1, per_person=1), "asked of nobody"),
        (Share(1, core=9), "--core"),
    ):
        refuses(UsageError, said, draft_translations, given, share, 1)


def test_what_most_people_wrote_is_the_reference(desk: Written, tmp_path: Path) -> None:
    people = [Translator(tmp_path, desk, place) for place in range(3)]
    dog, where = desk.item(1), desk.item(2)
    people[0].write(dog, "Niwâpamâw otêma.")
    people[1].write(dog, "Niwāpamāw atim.")
    people[2].write(dog, "Niwâpamâw  otêma.")
    people[0].write(where, "Tânitê ê-itohtêyan?")
    for person in people:
        desk.take(person)
    found = desk.collected()
    first, second = found.corpus.entries
    assert (first.id, second.id) == (1, 2)
    assert (first.source, first.provenance) == ("I saw his dog.", "elicited")
    assert first.reference in {"Niwâpamâw otêma.", "Niwâpamâw  otêma."}
    assert first.variants == ("Niwāpamāw atim.",)
    who = first.model_extra or {}
    assert [len(each) for each in who["translators"]] == [2, 1]
    assert {letter for each in who["translators"] for letter in each} == {"A", "B", "C"}
    assert (found.unshared, found.withheld, found.unanswered) == (0, 0, 2)
    consent = (found.corpus.dataset.model_extra or {})["consent"]
    assert (consent["use_allowed_by"], consent["text"]) == (3, desk.batch.manifest.consent)
    assert consent["text_sha256"] == sha256(consent["text"].encode()).hexdigest()
    assert found.corpus.dataset.target_language == "crk-Latn"
    assert not any(code in str(found.corpus) for code in desk.review.key.orders)


def test_the_file_is_one_that_corpus_check_accepts(desk: Written, tmp_path: Path) -> None:
    person = Translator(tmp_path, desk, 0)
    person.write(desk.item(1), "Niwâpamâw\notêma, “=x”,\t1")
    desk.take(person)
    found = desk.collected().corpus
    for name, form in (("c.jsonl", Form.JSONL), ("c.json", Form.SPECIFICATION)):
        write(found, tmp_path / name, form)
        back = load(tmp_path / name)
        assert back.entries == found.entries
        assert back.dataset.model_dump(mode="json")["organisation"] == "The council"
        assert (tmp_path / name).stat().st_mode & 0o077 == 0


def test_only_people_who_agreed_are_used(desk: Written, tmp_path: Path) -> None:
    shares, keeps = Translator(tmp_path, desk, 0), Translator(tmp_path, desk, 1, shares=False)
    shares.write(desk.item(1), "one")
    keeps.write(desk.item(1), "mine alone")
    keeps.write(desk.item(2), "mine alone too")
    for person in (shares, keeps):
        desk.take(person)
    found = desk.collected()
    assert [entry.reference for entry in found.corpus.entries] == ["one"]
    assert (found.unshared, found.unanswered) == (2, 3)
    assert "alone" not in str(found.corpus)


def test_what_somebody_objects_to_stays_here_until_cleared(desk: Written, tmp_path: Path) -> None:
    writes, objects = Translator(tmp_path, desk, 0), Translator(tmp_path, desk, 1)
    for entry in (1, 2, 4):
        writes.write(desk.item(entry), f"text {entry}")
    objects.flag(desk.item(1))
    objects.cannot(desk.item(2), CannotJudge.NOT_TO_SHARE)
    objects.cannot(desk.item(4), CannotJudge.UNCLEAR_SOURCE)
    for person in (writes, objects):
        desk.take(person)
    found = desk.collected()
    assert ([entry.id for entry in found.corpus.entries], found.withheld) == ([4], 2)
    cleared = Adjudicate(wall=WALL, batch=desk.batch.manifest.batch, item=desk.item(1), harmful=False, note="")
    desk.office.append(desk.review, cleared)
    found = desk.collected()
    assert [entry.id for entry in found.corpus.entries] == [1, 4]


def test_ratings_among_translations_are_set_aside_and_reverse(desk: Written, tmp_path: Path) -> None:
    person = Translator(tmp_path, desk, 0)
    person.write(desk.item(1), "right")
    person.laptop.append(Rate(**person.about(desk.item(2)), rating=Rating.GIST))
    report = made.take_vouched(desk.office, desk.identity, person.handed_over())
    assert [remark.said for remark in report.aside] == [
        "is an answer to something else: this batch asks people to translate"
    ]
    rated = made.desk(tmp_path / "other", reviewers=2, items=4)
    stranger = Person(tmp_path / "stranger", rated.batch, rated.codes[0])
    about = {**stranger.place, "item": stranger.order[0], "position": 0, "active_ms": 1}
    stranger.laptop.append(Translate(**about, face="desktop", version="0", text="x"))
    report = made.take_vouched(rated.office, rated.identity, stranger.handed_over())
    assert [remark.said for remark in report.aside] == [
        "is an answer to something else: this batch asks people to rate"
    ]
    state = rated.office.state(rated.review).reviewers[rated.batch.manifest.batch, rated.codes[0]]
    assert (dict(state.translations), dict(state.judgements)) == ({}, {})


def test_the_last_word_on_the_use_of_translations_counts(desk: Written, tmp_path: Path) -> None:
    person = Translator(tmp_path, desk, 0, shares=False)
    person.write(desk.item(1), "niwâpamâw")

    def arrived() -> tuple[list[int], int]:
        desk.take(person)
        found = progress(desk.office, desk.review)
        collected = desk.collected()
        return [each.kept_back for each in found.reviewers], len(collected.corpus.entries)

    assert arrived() == ([1, 0, 0], 0)
    person.agree(shares=True)
    assert arrived() == ([0, 0, 0], 1)
    person.agree(shares=False)
    assert arrived() == ([1, 0, 0], 0)


def test_the_corpus_tells_which_text_each_person_agreed_to(desk: Written, tmp_path: Path) -> None:
    """Of three people two read the text in French; the last words of each laptop count."""
    [french] = desk.review.manifest.translations.values()
    for place, text in enumerate((french.consent, french.consent, desk.review.manifest.consent)):
        person = Translator(tmp_path, desk, place)
        person.agree(shares=True, text=text)
        person.write(desk.item(1), f"niwâpamâw {place}")
        desk.take(person)
    found = desk.collected().corpus.dataset
    consent = (found.model_extra or {})["consent"]
    assert consent["use_allowed_by"] == 3
    told = [(each["language"], each["agreed_by"]) for each in consent["texts"]]
    assert told == [("en", 1), ("fr", 2)]
    hashes = [sha256(each["text"].encode()).hexdigest() for each in consent["texts"]]
    assert hashes == [each["text_sha256"] for each in consent["texts"]]


def test_there_is_no_gate_for_translations(desk: Written) -> None:
    for ask in (lambda: require_runs(desk.review), lambda: runs_of(desk.review, None)):
        refuses(UsageError, "collects translations", ask)
    with pytest.raises(UsageError, match="no verdict"):
        read_key(canonical_bytes(desk.review.key.model_dump(mode="json")), "answer-key.json")
    assert desk.review.translating


def test_words_for_translators_are_there_in_every_language() -> None:
    for language in languages():
        asks, rates = review_texts(language, "translate"), review_texts(language)
        assert asks.training == rates.training
        for name in ("title", "guide", "consent", "cards"):
            assert getattr(asks, name) != getattr(rates, name)
        assert "{organisation}" in asks.consent
        for card in (*asks.cards, *rates.cards):
            assert card.begin.count("START-HERE.html") == 1
            # as the button calls it
            assert Words.load(card.language)("Hand in your answers") in card.answer
        assert [card.language for card in asks.cards] == [language, *({"en", "fr"} - {language})]
