"""The bundled demo keeps what its README promises: a whole, clean, consistent corpus and two unlike systems."""

import csv
import json
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import regex
from sacrebleu.metrics import CHRF

from corpora.formats.load import load
from corpora.model.corpus import Dataset, Form
from corpora.model.entry import CONTEXTS, REGISTERS, Entry, Segment
from corpora.samples import (
    DEMO_COACHING,
    DEMO_CORPUS,
    DEMO_GLOSSARY,
    DEMO_STRONG,
    DEMO_TASKS,
    DEMO_WEAK,
    SAMPLES,
    demo_files,
    sample_path,
)
from corpora.text.comparison import comparison_form

PLACEHOLDER = regex.compile(r"\{\w+\}|%d")
WORD = regex.compile(r"\p{L}[\p{L}\p{M}']*")


def read_text(name: str) -> str:
    return sample_path(name).read_text(encoding="utf-8")


@cache
def envelope() -> dict[str, Any]:
    return dict(json.loads(read_text(DEMO_CORPUS)))


@cache
def entries() -> tuple[Entry, ...]:
    return tuple(Entry.model_validate(entry) for entry in envelope()["entries"])


def outputs(name: str) -> dict[int, str]:
    lines = [json.loads(line) for line in read_text(name).splitlines()]
    assert len({line["id"] for line in lines}) == len(lines)
    return {line["id"]: line["output"] for line in lines}


def glossary() -> dict[str, str]:
    lines = [line for line in read_text(DEMO_GLOSSARY).splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines, delimiter="\t"))
    assert len({row["source"] for row in rows}) == len(rows)
    return {row["source"]: row["target"] for row in rows}


def words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(PLACEHOLDER.sub(" ", text))]


def analyses() -> list[tuple[int | str, list[str], list[str]]]:
    parts = [(entry.id, (entry.morphological_analysis or "").split(" | ")) for entry in entries()]
    return [(entry, left.split(), right.split()) for entry, (left, right) in parts]


def test_samples_are_text_files_in_nfc_and_the_folder_has_no_others() -> None:
    for name in SAMPLES:
        text = read_text(name)
        assert unicodedata.is_normalized("NFC", text)
        assert text.endswith("\n")
        assert "\r" not in text
    kinds = {".json", ".jsonl", ".toml", ".tsv"}
    folder = sample_path(DEMO_CORPUS).parent
    assert {path.name for path in folder.iterdir() if path.suffix in kinds} == set(SAMPLES)


def test_no_other_path_can_be_asked_for() -> None:
    for name in ("../entry.py", "__init__.py", "/etc/passwd", "", ".", "x\0", f"{DEMO_CORPUS} "):
        with pytest.raises(ValueError, match=regex.escape(DEMO_CORPUS)):
            sample_path(name)


def test_the_readme_states_the_true_counts() -> None:
    readme = Path(sample_path(DEMO_CORPUS)).with_name("README.md").read_text(encoding="utf-8")
    coaching = json.loads(read_text(DEMO_COACHING))
    segments = Counter(entry.segment for entry in entries())
    assert f"{len(entries())} entries" in readme
    assert f"{segments[Segment.DEVELOPMENT]} development" in readme
    assert f"{segments[Segment.DIAGNOSTIC]} diagnostic" in readme
    assert f"{len(glossary())} English words" in readme
    assert f"{len(coaching['notes'])} grammar notes" in readme
    assert f"{len(coaching['examples'])} examples" in readme
    assert f"dictionary of {len(coaching['dictionary'])} words" in readme


def test_corpus_loads_without_a_warning_and_has_its_envelope() -> None:
    corpus = load(sample_path(DEMO_CORPUS))
    assert corpus.form is Form.SPECIFICATION
    assert (corpus.warnings, corpus.entries) == ((), entries())
    dataset = Dataset.model_validate(envelope()["dataset"])
    assert (dataset.source_language, dataset.target_language) == ("en", "eo")
    assert (dataset.version, dataset.license, dataset.created) == ("1.0", "CC0-1.0", "2026-11-21")
    assert set(dataset.provenance) == {entry.provenance for entry in entries()}
    assert "consent" in (dataset.model_extra or {})


def test_corpus_has_enough_entries_of_every_kind() -> None:
    segments = Counter(entry.segment for entry in entries())
    difficulties = Counter(entry.difficulty for entry in entries())
    assert set(segments) == {Segment.DEVELOPMENT, Segment.DIAGNOSTIC}
    assert segments[Segment.DEVELOPMENT] >= 60
    assert segments[Segment.DIAGNOSTIC] >= 20
    assert set(difficulties) == {1, 2, 3, 4, 5}
    assert min(difficulties.values()) >= 5
    assert sum(difficulties[tier] for tier in (2, 3, 4)) > len(entries()) / 2
    assert {entry.register_ for entry in entries()} == set(REGISTERS)
    assert {entry.context for entry in entries()} == set(CONTEXTS)
    assert min(Counter(entry.context for entry in entries()).values()) >= 5


def test_entries_are_unique_composed_and_have_known_fields() -> None:
    assert all(isinstance(entry.id, int) for entry in entries())
    for field in ("id", "source", "reference"):
        assert len({getattr(entry, field) for entry in entries()}) == len(entries()), field
    assert [entry.id for entry in entries() if entry.model_extra] == []
    texts = [text for e in entries() for text in (e.source, e.reference, *e.variants)]
    assert [text for text in texts if text != comparison_form(text)] == []
    for entry in entries():
        texts = [comparison_form(text) for text in (entry.reference, *entry.variants)]
        assert len(set(texts)) == len(texts), entry.id
    assert sum(bool(entry.variants) for entry in entries()) >= 60


ENDINGS = {
    "NOUN": "o", "ADJ": "a", "ADV": "e", "INF": "i", "PRS": "as", "PST": "is", "FUT": "os", "COND": "us",
    "VOL": "u", "PL": "j", "ACC": "n", "FEM": "in", "OPP": "mal", "INCH": "iĝ", "CAUS": "ig",
    "PTCP.ACT.PRS": "ant", "PTCP.ACT.PST": "int", "PTCP.PASS.PST": "it",
}  # fmt: skip


def test_analyses_join_to_words_and_have_one_gloss_each() -> None:
    references = {entry.id: entry.reference for entry in entries()}
    for entry, segments, glosses in analyses():
        assert [word.replace("-", "") for word in segments] == words(references[entry]), entry
        shape = [word.count("-") for word in segments]
        assert shape == [word.count("-") for word in glosses], entry
        assert all(part for word in (*segments, *glosses) for part in word.split("-")), entry
        pairs = zip("-".join(segments).split("-"), "-".join(glosses).split("-"), strict=True)
        assert [pair for pair in pairs if ENDINGS.get(pair[1], pair[0]) != pair[0]] == [], entry


def test_glosses_are_explained() -> None:
    readme = sample_path(DEMO_CORPUS).with_name("README.md").read_text(encoding="utf-8")
    used = {part for _, _, glosses in analyses() for word in glosses for part in word.split("-")}
    grammatical = {part for part in used if regex.fullmatch(r"[A-Z.]{2,}|[123].*", part)}
    assert {part for part in grammatical if f"`{part}`" not in readme} == set()
    assert {"ACC", "PL", "PTCP.PASS.PST", "COND", "VOL"} <= grammatical


def test_glossary_covers_the_sources_and_coaching_none() -> None:
    known = glossary()
    assert len(known) >= 250
    assert all(source == source.lower().strip() and target for source, target in known.items())
    tokens = [word for entry in entries() for word in words(entry.source)]
    assert sum(word in known for word in tokens) / len(tokens) >= 0.85
    coaching = json.loads(read_text(DEMO_COACHING))
    assert [word for word, to in coaching["dictionary"].items() if known.get(word, to) != to] == []
    assert set(coaching) == {"notes", "examples", "dictionary"}
    assert len(coaching["examples"]) >= 8
    assert len(coaching["dictionary"]) >= 80
    seen = {tuple(words(text)) for e in entries() for text in (e.source, e.reference, *e.variants)}
    shown = [tuple(words(text)) for e in coaching["examples"] for text in e.values()]
    assert [text for text in shown if text in seen] == []


def functions(text: str) -> str:
    """Return the names of the functions that an answer calls, or the answer."""
    try:
        return " ".join(name for call in json.loads(text) for name in call)
    except (ValueError, TypeError):  # a number is JSON too
        return text


@pytest.mark.parametrize("task", DEMO_TASKS)
def test_demo_of_each_task_has_two_unlike_systems(task: str) -> None:
    file, *systems = demo_files(task)
    corpus = load(sample_path(file))
    assert (corpus.dataset.task, corpus.dataset.license) == (task, "CC0-1.0")
    assert not corpus.warnings
    assert all(set(outputs(name)) == {each.id for each in corpus.entries} for name in systems)
    strong, weak = ([outputs(name)[int(each.id)] for each in corpus.entries] for name in systems)
    wanted = [each.reference for each in corpus.entries]
    right = sum(map(str.__eq__, map(functions, strong), map(functions, wanted)))
    assert right > len(corpus.entries) // 2 > sum(map(str.__eq__, weak, wanted))


def test_every_entry_has_one_output_with_plausible_measurements() -> None:
    for name, empty in ((DEMO_STRONG, 1), (DEMO_WEAK, 2)):
        assert set(outputs(name)) == {entry.id for entry in entries()}
        assert sum(not output for output in outputs(name).values()) == empty
        for line in map(json.loads, read_text(name).splitlines()):
            assert 0 < line["latency_seconds"] < 10
            assert line["prompt_tokens"] > 0
            assert (line["completion_tokens"] > 0) == bool(line["output"])
            assert line["model"] in {"verda-1", "griza-1"}


def test_systems_differ_clearly_by_variants_slips_and_copies() -> None:
    references, scores, exact, equivalent = [each.reference for each in entries()], [], [], []
    for told in (outputs(DEMO_STRONG), outputs(DEMO_WEAK)):
        answers = [told[int(entry.id)] for entry in entries()]
        scores.append(CHRF(word_order=2).corpus_score(answers, [references]).score)
        exact.append(sum(map(str.__eq__, answers, references)))
        pairs = list(zip(answers, entries(), strict=True))
        equivalent.append(sum(answer in entry.variants for answer, entry in pairs))
    assert 35 <= scores[1] <= 55 < 75 <= scores[0] <= 88
    shares = [(same + other) / len(references) for same, other in zip(exact, equivalent, strict=True)]
    assert shares[1] <= 0.15 < 0.45 <= shares[0] <= 0.9
    assert equivalent[0] >= 10
    assert sum(answer == entry.source for answer, entry in pairs) >= 2, "copies of the weak one"
