"""A corpus in the making: what its folder shows, what a stop leaves, and its way into a vault, whole and once."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from corpora.checks.requirements import LEAST
from corpora.formats.load import load
from corpora.model.entry import Segment
from harness.core.failures import UsageError
from harness.project import authoring
from harness.project.authoring import changing, lacking, progress_of, whole_corpus
from harness.project.candidates import (
    CandidateDefaults,
    SourceWish,
    ask_model,
    read_candidates,
    take_candidates,
    undo_last,
)
from harness.project.state import DraftTexts, HandedOut, InVault, Project, Spoken, read_project
from harness.sealed.keys import Identity, Role
from harness.vault.keepers import keeper_of
from harness.vault.vault import Vault
from harness.vault.vault_records import StoredCorpus
from tests.harness.project.making import begun, candidate, many, three, took
from tests.harness.scripted import Answer, Asked, Scripted, completion, json_answer
from tests.harness.sealed.refusals import refuses

SECRET = "Zyxthesecretsentence"


def test_secret_texts_lie_sealed_and_open_ones_grow_a_file(tmp_path: Path) -> None:
    begun(tmp_path)
    gold = candidate(f"{SECRET} one", reference=f"{SECRET} unu", segment=Segment.GOLD_STANDARD)
    later = candidate(f"{SECRET} two", segment=Segment.HELD_OUT)
    open_ = candidate("An open sentence", reference="Malferma frazo", segment=Segment.DEVELOPMENT)
    took(tmp_path, gold, later, open_)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]
    [entry] = load(tmp_path / "words" / "corpus.json").entries
    assert entry.reference == "Malferma frazo"
    project = read_project(tmp_path / "words", tmp_path / "home")
    assert project.texts(project.state.entries[0]).source == f"{SECRET} one"
    assert [each.id for each in whole_corpus(project).entries] == [1, 3]


OPEN = candidate("An open sentence", reference="Frazo", segment=Segment.DEVELOPMENT)


def test_open_part_that_a_stop_left_is_mended_and_loses_words(tmp_path: Path) -> None:
    begun(tmp_path)
    took(tmp_path, OPEN)
    path, home = tmp_path / "words" / "corpus.json", tmp_path / "home"
    kept = path.read_bytes()
    path.write_bytes(kept.replace(b"Frazo", b"Retirita"))
    with changing(path.parent, home, keep=False):
        assert b"Retirita" in path.read_bytes()
    with changing(path.parent, home) as project:
        assert path.read_bytes() == kept
        project.put([project.with_texts(project.state.entries[0], DraftTexts("An open sentence"))])
    assert not path.exists()


def test_words_leave_the_open_part_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(tmp_path)
    took(tmp_path, OPEN)

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.project.authoring.write_state", stopped)
    with pytest.raises(KeyboardInterrupt), changing(tmp_path / "words", tmp_path / "home") as project:
        project.put([project.with_texts(project.state.entries[0], DraftTexts("An open sentence"))])
    assert not (tmp_path / "words" / "corpus.json").exists()


def test_another_computer_opens_nothing_and_a_moved_text_neither(tmp_path: Path) -> None:
    begun(tmp_path)
    took(tmp_path, *(candidate(f"{SECRET} {n} {n}", segment=Segment.HELD_OUT) for n in ("alpha", "omega")))
    folder = tmp_path / "words"
    stranger = read_project(folder, tmp_path / "elsewhere")
    refuses(UsageError, "no key of this computer", stranger.texts, stranger.state.entries[0])
    told = json.loads((folder / "project.json").read_text())
    first, second = told["entries"]
    first["sealed"], second["sealed"] = second["sealed"], first["sealed"]
    (folder / "project.json").write_text(json.dumps(told))
    moved = read_project(folder, tmp_path / "home")
    refuses(UsageError, "entry 1, field 'sealed'", moved.texts, moved.state.entries[0])


@pytest.mark.parametrize(("content", "words"), [
    (b"{}", "Field required|number"), (b"[", "project.json"), (b'{"format": "x"}', "project.json"),
])  # fmt: skip
def test_a_damaged_state_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    begun(tmp_path)
    (tmp_path / "words" / "project.json").write_bytes(content)
    refuses(UsageError, words, read_project, tmp_path / "words", tmp_path / "home")


def test_what_stops_in_between_leaves_the_state_of_before(tmp_path: Path) -> None:
    begun(tmp_path)
    took(tmp_path, candidate("The first sentence of all"))
    path = tmp_path / "words" / "project.json"
    before = path.read_bytes()
    two = [candidate("Another sentence of it"), candidate("x" * 30, register="secret")]
    refuses(UsageError, "register", took, tmp_path, *two)
    assert path.read_bytes() == before


def test_near_copies_are_left_out_and_no_secret_one_is_quoted(tmp_path: Path) -> None:
    begun(tmp_path)
    took(tmp_path, candidate("The elders sang by the river", segment=Segment.GOLD_STANDARD))
    sentences = ("The elders sang by the rivers!", "the elders  sang by the river", "I see a cow", "I see a cat", "I see a cat.", "…")  # fmt: skip
    taken = took(tmp_path, *map(candidate, sentences))
    assert len(taken.entries) == 2, "short sentences are alike by chance"
    assert taken.copies == (
        "2 sentences that are there already, word for word (candidate 2, candidate 5)",
        "candidate 1: a near copy of entry 1",
        "candidate 6: it has no letters",
    )
    assert "elders" not in " ".join(taken.copies)


def test_those_that_are_chosen_are_weighted_toward_the_middle(tmp_path: Path) -> None:
    begun(tmp_path)
    entries = took(tmp_path, *many(), most=100).entries
    tiers = Counter(each.difficulty for each in entries)
    assert tiers == {1: 10, 2: 25, 3: 30, 4: 25, 5: 10}
    registers = Counter(each.register_ for each in entries)
    assert abs(registers["formal"] - registers["technical"]) <= 2


def test_each_segment_gets_a_like_mix_and_what_it_needs(tmp_path: Path) -> None:
    begun(tmp_path)
    sentences = (f"{'mno'[n % 3]} phenomenon {'abcdefghij'[n] * 9}" for n in range(10))
    marked = [candidate(each, 3, variant_class="v") for each in sentences]
    entries = took(tmp_path, *marked, *many()[::5]).entries
    counts = Counter(each.segment for each in entries)
    assert all(counts[segment] >= least for segment, least in LEAST.items())
    for segment in (Segment.GOLD_STANDARD, Segment.DEVELOPMENT, Segment.HELD_OUT):
        own = [each for each in entries if each.segment is segment]
        assert {each.difficulty for each in own} == {1, 2, 3, 4, 5}
        assert len({each.register_ for each in own}) == 2
    assert {each.has_class for each in entries if each.segment is Segment.DIAGNOSTIC} == {True}


def test_the_last_adding_is_undone_until_speakers_have_it(tmp_path: Path) -> None:
    begun(tmp_path)
    took(tmp_path, candidate("The first sentence of all"))
    took(tmp_path, *map(candidate, ("A second one that is longer", "And a third, longer still by far")))
    with changing(tmp_path / "words", tmp_path / "home") as project:
        assert undo_last(project) == 2
        assert [each.id for each in project.state.entries] == [1]
    assert took(tmp_path, candidate("Number four, with its own id")).entries[0].id == 4
    with changing(tmp_path / "words", tmp_path / "home") as project:
        out = HandedOut(review="r", kind="translate", on="2026-11-23", entries=(4,))
        project.change(reviews=(out,))
        refuses(UsageError, "with speakers", undo_last, project)
        going = InVault(vault="v", corpus="c", sha256="0", on="2026-11-23", done=False)
        project.change(reviews=(), vault=going)
        assert project.state.undoable == {4}, "it never came to the vault"
        project.change(vault=going.model_copy(update={"done": True}))
        assert not project.state.undoable
        project.change(vault=None)


def test_sources_of_a_file_may_lack_translations(tmp_path: Path) -> None:
    project = begun(tmp_path)
    path = tmp_path / "s.csv"
    path.write_text("source,difficulty,register,translation\nGood day to all,1,formal,\nThe dog is here,2,,La hundo\n")
    found = read_candidates(project, path)
    assert [each.texts.reference for each in found] == ["", "La hundo"]
    refuses(UsageError, r"s\.csv, line 3, field 'register'", take_candidates, project, found, CandidateDefaults())
    loud, words = [candidate("A day", register="loud")], "permitted are conversational"
    refuses(UsageError, f"field 'register': {words}", take_candidates, project, loud, CandidateDefaults())
    lines = tmp_path / "s.txt"
    lines.write_text("One line here\n\nAnother line there\n")
    assert [each.line for each in read_candidates(project, lines)] == [1, 3]


def test_sentences_kept_here_do_not_become_freer(tmp_path: Path) -> None:
    path = tmp_path / "s.tsv"
    path.write_text("# license: all rights reserved\nsource\tdifficulty\tregister\nGood day\t1\tformal\n")
    refuses(UsageError, "further", read_candidates, begun(tmp_path), path)
    stays = begun(tmp_path / "other", transmission="local-only")
    assert len(read_candidates(stays, path)) == 1


def test_model_is_sent_the_wish_alone_and_is_named(tmp_path: Path, endpoint: Scripted) -> None:
    project = begun(tmp_path)
    usual = CandidateDefaults(segment=Segment.GOLD_STANDARD)
    said = "1. The sun rises.\n2) We sing.\n\n- Come in!\nToo many."
    take_candidates(project, [candidate(f"{SECRET} of the elders")], usual)
    endpoint.answer = lambda _: json_answer(completion(said))
    found = ask_model(project, SourceWish(3, 3, "formal", "", "possessives"), endpoint.url, "small")
    assert [each.texts.source for each in found] == ["The sun rises.", "We sing.", "Come in!"]
    origins = {(each.origin.model, each.origin.file, each.seen_elsewhere) for each in found}
    assert origins == {("mock-1", "", False)}
    assert len(found[0].origin.prompt_sha256) == 64
    [asked] = endpoint.asked
    assert "Esperanto" in asked.source
    assert "possessives" in asked.source
    assert SECRET not in json.dumps(asked.body)
    entry = take_candidates(project, found, CandidateDefaults(difficulty=3, register="formal")).entries[0]
    assert progress_of(project).by_origin == {"from a file": 1, "made by a model": 3}
    assert entry.origin.model == "mock-1"


def test_what_another_machine_saw_becomes_no_secret(tmp_path: Path) -> None:
    project = begun(tmp_path)
    seen = [candidate(f"{each} number", seen_elsewhere=True) for each in ("alpha beta", "gamma delta")]
    refuses(UsageError, "no sentence of held_out", take_candidates, project, seen, CandidateDefaults(segment=Segment.HELD_OUT))  # fmt: skip
    entries = take_candidates(project, seen, CandidateDefaults()).entries
    assert {each.segment for each in entries} == {Segment.DEVELOPMENT}


def saying(text: str) -> Callable[[Asked], Answer]:
    return lambda _: json_answer(completion(text))


def test_model_is_not_asked_wrongly_and_must_answer(tmp_path: Path, endpoint: Scripted) -> None:
    project, wish = begun(tmp_path), SourceWish(3, 3, "formal", segment=Segment.GOLD_STANDARD)
    away = "https://models.invalid/v1"
    refuses(UsageError, "of gold_standard", ask_model, project, wish, away, "small", lambda _: "k")
    for text in ("", "\n \n"):
        endpoint.answer = saying(text)
        wish = SourceWish(3, 1, "formal")
        refuses(UsageError, "no sentence", ask_model, project, wish, endpoint.url, "small")
    for count in (0, 51):
        wish = SourceWish(count, 1, "formal")
        refuses(UsageError, "between 1 and 50", ask_model, project, wish, endpoint.url, "small")


def test_what_a_finished_corpus_lacks_is_named(tmp_path: Path) -> None:
    begun(tmp_path)
    took(tmp_path, *three())
    agreed = Spoken(review="r", people=("A",), outcome="agreed", on="2026-11-23")
    out = HandedOut(review="words-agree-1", kind="agree", on="2026-11-23", entries=(1, 3))
    with changing(tmp_path / "words", tmp_path / "home") as project:
        last = project.state.entries[2]
        project.put([last.model_copy(update={"agreed": agreed})])
        project.change(reviews=(out,))
    said = lacking(read_project(tmp_path / "words", tmp_path / "home"))
    alone, without, waits, *short = said
    assert "1 translation to which no second speaker agreed (1 gold_standard)" in alone
    assert "1 sentence without a translation (1 held_out)" in without
    assert "words-agree-1 is still with speakers: 1 of its 2 sentences" in waits
    assert "gold_standard entries: 1 of 50" in short
    assert "community consent: 0 of 1 (not documented)" in short


class Keeper:
    """A vault of one keeper and a recovery key, beside a project with a sentence of each kind."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder / "words", folder / "home"
        begun(folder)
        took(folder, *three())
        self.identity, recovery = Identity.make(Role.ORGANISATION), Identity.make(Role.ORGANISATION)
        self.vault = Vault(folder / "vault", self.home, lambda: datetime.now(UTC))
        keepers = [keeper_of(self.identity, "Office"), keeper_of(recovery, "Safe", recovery=True)]
        self.vault.found("Words", keepers, self.identity)

    def moves(self) -> StoredCorpus:
        with changing(self.folder, self.home) as project:
            corpus = whole_corpus(project)
            return authoring.move_into(project, self.vault, corpus, "words", self.identity, None, {})

    def is_stopped(self, monkeypatch: pytest.MonkeyPatch, *, after: bool) -> None:
        """Move, and stop before or after the vault has it."""
        adds = Vault.add

        def stopped(*given: Any) -> None:
            if after:
                adds(*given)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Vault, "add", stopped)
            refuses(KeyboardInterrupt, "", self.moves)

    @property
    def project(self) -> Project:
        return read_project(self.folder, self.home)


def test_what_went_into_the_vault_is_out_of_the_project(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    assert sum(keeper.moves().entries.values()) == 2
    gold, later, open_ = keeper.project.state.entries
    assert (gold.sealed, open_.texts is not None, bool(later.sealed)) == ("", True, True)
    refuses(UsageError, "are in the vault", keeper.project.texts, gold)
    refuses(UsageError, "is closed", keeper.moves)


def test_stopped_move_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = Keeper(tmp_path)
    keeper.is_stopped(monkeypatch, after=True)
    assert keeper.project.texts(keeper.project.state.entries[0]).reference == "Kantis"
    keeper.moves()
    assert len(keeper.vault.read().head.corpora) == 1
    assert keeper.project.state.entries[0].sealed == ""


def test_correction_meanwhile_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = Keeper(tmp_path)
    keeper.is_stopped(monkeypatch, after=True)
    with changing(keeper.folder, keeper.home) as project:
        gold = project.state.entries[0]
        better = replace(project.texts(gold), reference="Kantis ĉi tie")
        project.put([project.with_texts(gold, better)])
    refuses(UsageError, "changed here since", keeper.moves)
    kept = keeper.project
    assert kept.texts(kept.state.entries[0]).reference == "Kantis ĉi tie"
    assert not kept.state.vault.done


def test_other_corpus_takes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper, other = Keeper(tmp_path), Keeper(tmp_path / "other")
    keeper.is_stopped(monkeypatch, after=False)
    with changing(other.folder, other.home) as project:
        corpus = whole_corpus(project)
        first = corpus.reveal_here()[0].model_copy(update={"source": "Something else"})
        changed = type(corpus)(corpus.dataset, (first,), corpus.sha256, corpus.form)
        keeper.vault.add(changed, "words", keeper.identity)
    refuses(UsageError, "another corpus 'words'", keeper.moves)
    assert keeper.project.state.entries[0].sealed
