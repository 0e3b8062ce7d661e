"""Our own Esperanto analyser: what it knows, what it refuses, and that the file is made from its source."""

import json
import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from corpora.languages.shipped.epo.build import ANALYSER, SOURCE, build
from corpora.text.words import words
from harness.annotators.fst import FstAnnotator
from harness.fst.analyser import open_analyser
from tests.harness.fst.making import layout_of, mutated, needs, spelt_by

SAMPLES = files("corpora.samples")
ENTRIES = json.loads(SAMPLES.joinpath("eo-demo-v1.json").read_text("utf-8"))["entries"]


def share_accepted(texts: list[str]) -> float:
    split = [word.text for text in texts for word in words(text) if word.text.isalpha()]
    found = FstAnnotator(open_analyser(ANALYSER)).analyse_words(split)
    return sum(word.accepted is not None for word in found) / len(found)


def outputs(system: str) -> list[str]:
    lines = SAMPLES.joinpath(f"eo-demo-outputs-{system}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["output"] for line in lines]


def test_the_demo_s_words_are_known() -> None:
    assert share_accepted([entry["reference"] for entry in ENTRIES]) > 0.99
    assert share_accepted([text for entry in ENTRIES for text in entry.get("variants", [])]) > 0.99
    coaching = json.loads(SAMPLES.joinpath("eo-demo-coaching.json").read_text("utf-8"))
    assert share_accepted([example["target"] for example in coaching["examples"]]) == 1
    assert share_accepted([str(text) for text in coaching["dictionary"].values()]) > 0.99
    lines = SAMPLES.joinpath("eo-demo-glossary.tsv").read_text("utf-8").splitlines()
    pairs = [line.split("\t")[1] for line in lines if not line.startswith("#")]
    assert share_accepted(pairs[1:]) > 0.99


def test_a_weak_system_s_english_is_refused() -> None:
    assert share_accepted([entry["source"] for entry in ENTRIES]) < 0.05
    assert share_accepted(outputs("weak")) < 0.88
    assert share_accepted(outputs("strong")) > 0.97
    analyser = open_analyser(ANALYSER)
    english = "the and accept hunter photographs melted theatre sun mouse minority are garden is a"
    assert not any(accepted for accepted, _ in analyser.analyse(english.split()))


@pytest.mark.parametrize(("word", "analyses"), [
    ("hundojn", ["hundo+N+Pl+Acc"]), ("vidas", ["vidi+V+Prs"]), ("iris", ["iri+V+Prt"]),
    ("helpus", ["helpi+V+Cond"]), ("malgrandajn", ["malgranda+A+Pl+Acc"]),
    ("parolantoj", ["paroli+V+Act+PrsPrc+N+Pl+Nom"]),
    ("legitajn", ["legi+V+Pass+PrfPrc+A+Pl+Acc"]), ("konatiĝi", ["konatiĝi+V+Inf"]),
    ("instruistino", ["instruistino+N+Sg+Nom"]), ("manĝilaron", ["manĝilaro+N+Sg+Acc"]),
    ("hejmen", ["hejme+Adv+Acc"]), ("mian", ["mi+Pron+Pers+1Sg+Poss+A+Sg+Acc"]),
    ("kiujn", ["kiu+Pron+Corr+Interr+Pl+Acc", "kiu+Pron+Corr+Rel+Pl+Acc"]),
    ("neniam", ["neniam+Adv+Corr+Neg"]), ("tridek", ["tridek+Num"]),
    ("tria", ["tria+A+Ord+Sg+Nom"]), ("en", ["en+Pr"]), ("ĉu", ["ĉu+Pcle+Qst"]),
    ("Varsovio", ["Varsovio+N+Prop+Sg+Nom"]), ("hundjo", None), ("hundojnn", None),
    ("hundi", None), ("vidass", None), ("kiujmo", None), ("o", None),
])  # fmt: skip
def test_analyses(word: str, analyses: list[str] | None) -> None:
    assert open_analyser(ANALYSER).analyse([word]) == [(analyses is not None, (*(analyses or ()),))]


def test_every_tag_is_declared_and_explained() -> None:
    source = SOURCE.read_text("utf-8")
    declared = set(re.findall(r"\+\w+", source.split("LEXICON Root")[0].split("Multichar_")[1]))
    shown = {symbol for symbol in layout_of(ANALYSER).alphabet.shown if symbol.startswith("+")}
    assert shown == declared
    readme = SOURCE.with_name("README.md").read_text("utf-8")
    assert [tag for tag in declared if f"`{tag}`" not in readme and f"`{tag} " not in readme] == []


def test_the_gloss_table_covers_the_demo_corpus() -> None:
    readme = SOURCE.with_name("README.md").read_text("utf-8")
    table = tomllib.loads(re.findall(r"```toml\n(.*?)```", readme, re.DOTALL)[0])["glosses"]
    tags = {symbol[1:] for symbol in layout_of(ANALYSER).alphabet.shown if symbol.startswith("+")}
    assert {tag for value in table.values() for tag in value.split("+") if tag} <= tags
    glosses = {
        gloss
        for entry in ENTRIES
        for word in entry["morphological_analysis"].split(" | ")[1].split()
        for gloss in word.split("-")
        if gloss.isupper() or re.fullmatch(r"[A-Z.]+|[123].*", gloss)
    }
    assert glosses <= set(table)


def test_the_file_is_small() -> None:
    assert ANALYSER.stat().st_size < 300_000


def test_building_again_gives_the_same_analyser(tmp_path: Path) -> None:
    needs("hfst")
    build(tmp_path / "again.hfstol")
    old, new = open_analyser(ANALYSER), open_analyser(tmp_path / "again.hfstol")
    found = spelt_by(layout_of(ANALYSER), 500)
    found += mutated(found, "aeioujnŭĉ")
    assert old.analyse(found) == new.analyse(found)
    assert sum(accepted for accepted, _ in new.analyse(found)) >= 500
