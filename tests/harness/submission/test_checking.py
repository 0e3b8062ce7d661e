"""What a submission lacks is said part by part; the desk keeps bundles apart; whose fault the end of a run is."""

import hashlib
import io
import json
import pickle
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Entry
from harness.box.boxed import BoxedMethod
from harness.box.engine import BoxFailure, BoxStage
from harness.card.model import card_hash
from harness.core.calls import Calls
from harness.core.canonical import canonical_bytes
from harness.core.failures import ErrorClass, UsageError
from harness.method.method import Method, MethodClass, Output, Setup
from harness.method.option_table import METHODS
from harness.method.options import MethodOptions
from harness.run.events import Finished
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.store.sqlite.database import open_store
from harness.submission.bundle import (
    DataKind,
    DataLane,
    NotData,
    RefusedBundle,
    data_kind,
    is_tokenizer,
    parse_submission,
)
from harness.submission.desk import KeptSubmission, SubmissionEvent, SubmissionStore
from harness.submission.folder import PartCheck, SubmissionPart, check_submission, lane_options, pack_folder
from harness.submission.rehearsal import RunOutcome, run_outcome
from tests.harness.evaluation import LANGUAGES, corpus_of, run_corpus
from tests.harness.release.made import hidden
from tests.harness.sealed.refusals import refuses
from tests.harness.shipped_methods.tiny_model import tiny_model
from tests.harness.submission.made import MAKER, TERMS, resigned, sample_folder


def _checked(data: bytes, changed: dict[str, bytes | None] | None = None, **manifest: Any) -> dict[SubmissionPart, PartCheck]:  # fmt: skip
    found = parse_submission(resigned(data, changed or {}, **manifest))
    return {each.part: each for each in check_submission(found)}


def test_a_whole_submission_lacks_nothing(data: bytes) -> None:
    checks = check_submission(parse_submission(data), hashlib.sha256(TERMS).hexdigest())
    assert [each.part for each in checks] == list(SubmissionPart)
    assert all(each.ok for each in checks)
    assert not _checked(data, terms=None)[SubmissionPart.TERMS].ok
    [other] = [e for e in check_submission(parse_submission(data), "0" * 64) if e.part is SubmissionPart.TERMS]
    assert not other.ok
    assert "others were accepted" in other.words


@pytest.mark.parametrize(("readme", "words"), [
    (b"# A method\n", "no heading about its limits"),
    (b"# A method\n\n## Limitations\n\n## More\n\nmany words stand here indeed\n", "nothing stands below"),
    (b"# A method\n\n## Limitations\n\nnone\n", "nothing stands below"),
])  # fmt: skip
def test_a_readme_says_what_the_method_does_badly(data: bytes, readme: bytes, words: str) -> None:
    check = _checked(data, {"README.md": readme})[SubmissionPart.README]
    assert not check.ok
    assert words in check.words


@pytest.mark.parametrize(("size", "ok"), [(32, True), (33, False), (500, False)])
def test_so_many_texts_are_asked_at_once_and_no_more(data: bytes, size: int, ok: bool) -> None:
    lane = {"lane": "data", "method": "chat", "options": {"batch_size": size}, "files": {}, "made_for": ""}
    bundle = resigned(data, {}, method=lane)
    told = check_submission(parse_submission(bundle))
    [words] = [each.words for each in told if each.part is SubmissionPart.METHOD]
    assert ("32 texts at once at most" not in words) is ok


def _card(data: bytes, **changed: Any) -> bytes:
    card = json.loads(parse_submission(data).members["card.json"])
    for name, value in changed.items():
        block, _, key = name.rpartition("__")
        (card[block] if block else card)[key] = value
    card["run_card_hash"] = card_hash(card)
    return canonical_bytes(card)


def test_card_that_costs_more_or_cannot_be_rehearsed_is_said(data: bytes) -> None:
    for part, changed, words in (
        (SubmissionPart.COSTS, {"cost__cost_per_entry_usd": 0.5}, "0 USD an entry, and the card has 0.5"),
        (SubmissionPart.CARD, {"results": []}, "names no entries"),
        (SubmissionPart.CARD, {"scores__composite": None}, "no chrF++ or no composite"),
        (SubmissionPart.CARD, {"dataset__source_language": "fr"}, "another pair"),
    ):  # fmt: skip
        check = _checked(data, {"card.json": _card(data, **changed)})[part]
        assert not check.ok
        assert words in check.words
    broken = parse_submission(data).members["card.json"].replace(b"eo-demo-v1", b"eo-demo-v2", 1)
    check = _checked(data, {"card.json": broken})[SubmissionPart.CARD]
    assert not check.ok


@pytest.mark.parametrize(("sheet", "words"), [
    ("name = 3", "name"), ("not toml", "submission.toml"),
    ('name = "x"\nsubmitter = "y"\nlicence = "z"\nbudget = 3', "budget|method"),
])  # fmt: skip
def test_a_sheet_that_is_wrong_names_its_field(tmp_path: Path, sheet: str, words: str) -> None:
    folder = sample_folder(tmp_path / "sample")
    (folder / "submission.toml").write_text(sheet, "utf-8")
    refuses(UsageError, words, pack_folder, folder, MAKER)


def test_a_folder_with_a_link_or_without_a_card_is_not_packed(tmp_path: Path) -> None:
    folder = sample_folder(tmp_path / "sample")
    (folder / "data" / "more.txt").symlink_to("/etc/passwd")
    refuses(RefusedBundle, r"data/more\.txt: a link", pack_folder, folder, MAKER)
    (folder / "data" / "more.txt").unlink()
    (folder / "card.json").unlink()
    refuses(RefusedBundle, r"card\.json: missing", pack_folder, folder, MAKER)
    refuses(UsageError, "no folder", pack_folder, tmp_path / "none", MAKER)


def test_what_tools_leave_behind_is_not_packed(tmp_path: Path) -> None:
    folder = sample_folder(tmp_path / "sample", "code")
    (folder / "code" / "__pycache__").mkdir()
    (folder / "code" / "__pycache__" / "word_by_word.cpython-311.pyc").write_bytes(b"x")
    found = parse_submission(pack_folder(folder, MAKER))
    assert set(found.below("code")) == {"word_by_word.py", "words.tsv"}


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (print, ("run",))


def _pytorch() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({}))
    return made.getvalue()


def test_pickled_objects_are_refused_by_their_first_bytes(data: bytes) -> None:
    for protocol in range(2, 6):
        pickled = pickle.dumps(Evil(), protocol=protocol)
        refuses(NotData, "pickled objects", data_kind, "data/words.tsv", pickled)
    named, bundle = r"data/model\.txt: pickled objects", resigned(data, {"data/model.txt": pickled})
    refuses(UsageError, named, parse_submission, bundle)


@pytest.mark.parametrize(("path", "content", "words"), [
    ("data/m.bin", _pytorch(), "an archive, such as PyTorch's"),
    ("data/words.tsv", b"\x7fELF\x02\x01", "a program"),
    ("data/words.tsv", b"MZ\x90", "a program"), ("data/words.tsv", b"#!/bin/sh\n", "a script"),
    ("data/words.tsv", b"\x1f\x8b\x08", "compressed"),
    ("data/words.py", b"import os\n", "by its name"),
    ("data/old.pkl", b"cos\nsystem\n(S'true'\ntR.", "by its name"),
    ("data/x.pth", b"import os\n", "by its name"), ("data/words.tsv", b"a\x00b", "of no kind"),
    ("data/words.tsv", b"\xff\xfb\x90", "of no kind"),
    ("data/model.bin", b"\x06\x00\x00\x00\x10\x00notaspecification", "of no kind"),
    ("data/other.bin", b"\x06\x00\x00\x00\x10\x00TransformerSpec\x00\x07\x00", "of no kind"),
    ("data/w.safetensors", (2).to_bytes(8, "little") + b"{}", "Convert it to CTranslate2"),
])  # fmt: skip
def test_what_is_no_data_says_what_it_is(path: str, content: bytes, words: str) -> None:
    refuses(NotData, words, data_kind, path, content)


def test_what_is_read_here_is_known(tmp_path: Path) -> None:
    assert data_kind("data/words.tsv", "ŝi\tshe\n".encode()) is DataKind.TEXT
    assert data_kind("data/words.tsv", "ŝi\tshe\n".encode("utf-16")) is DataKind.TEXT
    assert data_kind("data/eo.hfstol", b"HFST\x00\x37\x00") is DataKind.ANALYSER
    pytest.importorskip("ctranslate2", reason="the extra engine is not installed")
    folder = tiny_model(tmp_path / "tiny")
    kinds = {p.name: data_kind(p.name, p.read_bytes()) for p in folder.iterdir()}
    assert kinds.pop("model.bin") is DataKind.WEIGHTS
    assert set(kinds.values()) == {DataKind.TEXT}
    assert is_tokenizer((folder / "tokenizer.json").read_bytes())
    assert not is_tokenizer((folder / "config.json").read_bytes())


@pytest.mark.parametrize("method", ["chat", "pipeline", "glossary", "ctranslate2"])
def test_where_texts_go_is_never_the_makers_to_choose(method: str) -> None:
    assert method in METHODS
    for name in ("endpoint", "prices", "body", "model"):
        with pytest.raises(UsageError, match=f"option '{name}'"):
            lane_options(DataLane.model_validate({"method": method, "options": {name: "http://192.0.2.1"}}))
    with pytest.raises(UsageError, match="option 'glossary'"):
        lane_options(DataLane.model_validate({"method": "pipeline", "options": {"glossary": "/etc/passwd"}}))
    with pytest.raises(UsageError, match="reads no file 'outputs'"):
        lane_options(DataLane.model_validate({"method": method, "files": {"outputs": "data/x"}}))


def test_a_model_comes_with_weights_and_tokenizer(data: bytes) -> None:
    lane = {"lane": "data", "method": "ctranslate2", "options": {}, "files": {"model_folder": "data/m"}, "made_for": ""}
    begun = {"data/m/config.json": b"{}"}
    found = parse_submission(resigned(data, begun, method=lane))
    checks = {each.part: each for each in check_submission(found)}
    assert "data/m/model.bin: missing" in checks[SubmissionPart.METHOD].words
    weights = b"\x06\x00\x00\x00\x10\x00TransformerSpec\x00\x07\x00"
    more = {**begun, "data/m/model.bin": weights, "data/m/tokenizer.json": b"{}"}
    found = parse_submission(resigned(data, more, method=lane))
    checks = {each.part: each for each in check_submission(found)}
    assert "no tokenizer" in checks[SubmissionPart.METHOD].words


@pytest.fixture
def desk(tmp_path: Path) -> SubmissionStore:
    return SubmissionStore(tmp_path / "home")


def taken_in(desk: SubmissionStore, data: bytes, name: str = "tiny") -> KeptSubmission:
    path = desk.folder.parent.with_name(f"{name}.rosetta-submission")
    path.write_bytes(data)
    return desk.receive(path)


def test_changed_bundle_is_put_back_from_the_file(desk: SubmissionStore, data: bytes) -> None:
    kept = taken_in(desk, data)
    desk.note(kept.submission, SubmissionEvent.REHEARSED)
    for changed in (resigned(data, {}, release="2"), b"nothing", None):
        kept.path.unlink()
        if changed is not None:
            kept.path.write_bytes(changed)
        refuses(UsageError, "", desk.find, kept.number)
        assert taken_in(desk, data).path.read_bytes() == data
    assert [e.what for e in desk.find(kept.number).notes] == [SubmissionEvent.RECEIVED, SubmissionEvent.REHEARSED]


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("saluton ĉiuj-2.1", "saluton-ĉiuj-2.1"),
        ("x\n  what for    approved\x1b[2J\u202e", "x-what-for-approved-2J"),
        ("a\udcffb", "a-b"),
        ("--help", "help"),
        ("", "submission"),
        ("n" * 236, "n" * 50),
    ],
)
def test_the_desk_keeps_a_bundle_under_a_name_for_any_stick(desk: SubmissionStore, data: bytes, name: str, stem: str) -> None:  # fmt: skip
    """The keepers' request is called by it, and keepers type it."""
    assert taken_in(desk, data, name).path.name == f"{stem}.rosetta-submission"


def test_bundles_of_one_number_differ(desk: SubmissionStore, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who makes both can find two whose hashes begin alike; here a number is one letter long."""
    monkeypatch.setattr("harness.submission.desk.NUMBER_LETTERS", 1)
    kept = taken_in(desk, data)
    packed = (resigned(data, {}, release=f"other {n}") for n in range(999))
    other = next(each for each in packed if hashlib.sha256(each).hexdigest()[0] == kept.number)
    refuses(UsageError, "another submission with the number", taken_in, desk, other)
    kept.path.write_bytes(other)
    refuses(UsageError, "was changed", desk.find, kept.number)


@pytest.mark.parametrize(("notes", "words"), [(b"", "has no line"), (b'{"what": "received"\n', "line 1 is damaged")])
def test_damaged_notes_are_said_and_hide_no_other_bundle(desk: SubmissionStore, data: bytes, notes: bytes, words: str) -> None:  # fmt: skip
    kept = taken_in(desk, data)
    (kept.folder / "notes.jsonl").write_bytes(notes)
    other = taken_in(desk, resigned(data, {}, release="2"), "other")
    found, [said] = desk.listed()
    assert [each.number for each in found] == [other.number]
    assert words in said
    refuses(UsageError, words, desk.find, kept.number)


def test_bundle_with_a_cut_first_note_is_taken_again(desk: SubmissionStore, data: bytes) -> None:
    kept = taken_in(desk, data)
    (kept.folder / "notes.jsonl").write_bytes(b'{"what":"rec')
    assert [each.what for each in taken_in(desk, data).notes] == [SubmissionEvent.RECEIVED]


class Answering:
    """Gives a text, or fails in a class, by the entry's place."""

    def __init__(self, *classes: ErrorClass | None, endpoint: str | None = None) -> None:
        self._classes, self.endpoint = classes, endpoint
        self.setup = Setup(
            method="submission", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1", method_sha256="0" * 64,
            model_slug="m", condition="c",
        )  # fmt: skip

    async def translate(self, entries: Sequence[Entry], _calls: Calls) -> list[Output]:
        places = (int(str(each.id).partition("-")[2]) for each in entries)
        classes = (self._classes[place % len(self._classes)] for place in places)
        return [Output("mi vidas") if e is None else Output(None, e, "It failed.") for e in classes]


class Boxy(BoxedMethod):
    """A method in the box, as far as its end is judged."""

    def __init__(self, failure: BoxFailure | None) -> None:
        self.failure = failure
        self.endpoint = None


Ended = Callable[..., RunOutcome]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """Judge the end of a run whose texts fail in these classes; each such run is made once."""
    runs: dict[tuple[ErrorClass | None, ...], tuple[Path, Finished]] = {}

    def judged(*classes: ErrorClass | None, method: Method | None = None, endpoint: str | None = None, interrupted: bool = False) -> RunOutcome:  # fmt: skip
        if classes not in runs:
            store = tmp_path_factory.mktemp("run") / "rosetta.sqlite"
            scoring = ScoringOptions(metrics=("chrf_plus_plus",))
            plan = Plan(method="submission", options=MethodOptions(**LANGUAGES), scoring=scoring)
            heard = run_corpus(store, corpus_of(hidden(6)), plan, method=Answering(*classes))
            [finished] = [each for each in heard.events if isinstance(each, Finished)]
            runs[classes] = store, finished
        store, finished = runs[classes]
        with closing(open_store(store)) as connection:
            found = method or Answering(*classes, endpoint=endpoint)
            return run_outcome(connection, finished, found, interrupted=interrupted)

    return judged


def test_outputs_are_scored_though_some_entries_failed(outcome: Ended) -> None:
    assert outcome(None, ErrorClass.METHOD).act is SubmissionEvent.SCORED


@pytest.mark.parametrize("failed", [ErrorClass.METHOD, ErrorClass.EMPTY, ErrorClass.MALFORMED, ErrorClass.TIMEOUT])
def test_method_that_gives_nothing_is_refused(outcome: Ended, failed: ErrorClass) -> None:
    found = outcome(failed)
    assert (found.act, found.stage) == (SubmissionEvent.REFUSED, "translate")
    if failed is ErrorClass.METHOD:  # what somebody stopped here is no answer
        assert outcome(failed, interrupted=True).act is SubmissionEvent.NOT_RUN


@pytest.mark.parametrize("failed", [ErrorClass.CONNECTION, ErrorClass.SERVER, ErrorClass.AUTH, ErrorClass.TIMEOUT])
def test_server_that_fails_is_no_fault_of_the_method(outcome: Ended, failed: ErrorClass) -> None:
    found = outcome(failed, endpoint="http://127.0.0.1:9/v1")
    assert (found.act, found.stage) == (SubmissionEvent.NOT_RUN, None)


def test_box_says_whose_fault_it_is_at_each_stage(outcome: Ended) -> None:
    told: dict[BoxStage, tuple[SubmissionEvent, str | None]] = {}
    for stage in BoxStage:
        found = outcome(ErrorClass.METHOD, method=Boxy(BoxFailure(stage)))
        told[stage] = found.act, found.stage
        assert (found.stage is None) is (found.act is SubmissionEvent.NOT_RUN)
    for stage in (BoxStage.ENGINE, BoxStage.GATEWAY):
        assert told[stage] == (SubmissionEvent.NOT_RUN, None)
    for stage in (BoxStage.INSTALL, BoxStage.LOAD, BoxStage.TRANSLATE):
        assert told[stage] == (SubmissionEvent.REFUSED, stage.value)
