"""What a run is scored with is refused at once where its parts do not fit; the user's meaning dictionary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from corpora.languages.shipped.epo.build import ANALYSER
from corpora.model.corpus import Selection
from corpora.model.entry import Segment
from harness import api
from harness.core.failures import UsageError
from harness.core.version import VERSION
from harness.inputs.dictionary import read_gloss_dictionary
from harness.run.run_terms import run_terms
from harness.vault.records import RunTerms
from tests.corpora.languages.least_card import LEAST
from tests.harness.evaluation import corpus, run_corpus, sealed_card
from tests.harness.run.constant_runs import constant


def card(folder: Path, tag: str, more: str = "") -> Path:
    path = folder / "mine.toml"
    path.write_text(LEAST.replace('"crk"', f'"{tag}"').replace("name", f"{more}\nname", 1), "utf-8")
    return path


def test_a_card_of_another_language_is_refused(store_path: Path, tmp_path: Path) -> None:
    plan = constant(("rosetta",), language_card=card(tmp_path, "crk"))
    with pytest.raises(UsageError, match=r"--language-card is of crk \(Mine\).*into eo"):
        run_corpus(store_path, corpus(2), plan)


@pytest.mark.parametrize(("tag", "more"), [("eo", ""), ("epo", ""), ("qaa", 'aliases = ["eo"]')])
def test_card_fits_by_tag_or_alias(store_path: Path, tmp_path: Path, tag: str, more: str) -> None:
    plan = constant(language_card=card(tmp_path, tag, more))
    run_corpus(store_path, corpus(2), plan)
    assert sealed_card(store_path)["scoring"]["language_card"] == tag


def test_two_ways_to_one_score_are_refused_not_dropped(store_path: Path, tmp_path: Path) -> None:
    glosses = tmp_path / "glosses.tsv"
    glosses.write_text("eniro\tentry\n", "utf-8")
    told = {
        "gloss_dictionary": glosses,
        "embeddings": "http://localhost:9",
        "embeddings_model": "m",
    }
    plan = constant(("rosetta",), analyser=ANALYSER, **told)
    with pytest.raises(UsageError, match="--gloss-dictionary and --embeddings both give"):
        run_corpus(store_path, corpus(2), plan)
    run_corpus(store_path, corpus(2), constant(("chrf_plus_plus",), **told))


EXPECTED = {"atim": ("dog", "horse"), "nipâw": ("s/he sleeps",)}

FORMS = [
    ("d.tsv", "atim\tdog\nnipâw\ts/he sleeps\natim\thorse\n"),
    ("d.tsv", "\ufefflemma\tgloss\n# a remark\natim\tdog\thorse\t\n\nnipa\u0302w\ts/he  sleeps\n"),
    ("d.csv", 'Lemma,Definition\natim,dog,horse\n"nipâw","s/he sleeps"\natim,dog\n'),
    ("d.json", '{"atim": ["dog", "horse"], "nipâw": "s/he sleeps"}'),
    (
        "d.json",
        '[{"lemma": "atim", "glosses": ["dog", "horse"]}, {"head": "nipâw", "gloss": "s/he sleeps"}]',
    ),
]


def test_forms_of_a_dictionary_are_read(tmp_path: Path) -> None:
    for name, content in FORMS:
        (tmp_path / name).write_text(content, "utf-8")
        found = read_gloss_dictionary(tmp_path / name)
        assert (found.glosses, len(found), len(found.sha256)) == (EXPECTED, 2, 64)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("d.tsv", b"atim\tdog\nnipaw\n", "line 2: a lemma and its gloss are wanted, with a tab"),
        ("d.csv", b"atim,dog\n,horse\n", "line 2: a lemma and its gloss are wanted, with a comma"),
        ("d.csv", b'atim,"dog\n', "line 1"),
        ("d.tsv", b"", "the dictionary is empty"),
        ("d.tsv", b"lemma\tgloss\n# none\n", "the dictionary is empty"),
        ("d.tsv", b"atim\tdog\n\xe2w\tx\n", "line 2: not UTF-8"),
        ("d.json", b'{"atim":\n "dog"', "line 2: not valid JSON"),
        ("d.json", b"7", "object or list"),
        ("d.json", b'{"atim": 7}', "item 1: a lemma with its gloss"),
        ("d.json", b'{"atim": []}', "item 1: a lemma with its gloss"),
        ("d.json", b'[{"lemma": "atim", "gloss": "dog"}, {"lemma": "minos"}]', "item 2"),
        ("d.json", b'["atim"]', "item 1"),
        ("d.json", b"[" * 100_000, "not valid JSON"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UsageError, match=said) as caught:
        read_gloss_dictionary(path)
    assert str(path) in str(caught.value)
    with pytest.raises(UsageError, match="cannot be read"):
        read_gloss_dictionary(tmp_path / "none.tsv")


PLUGIN = """
class Echo:
    pass
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))


def terms(method: str, selection: Selection | None = None, **told: Any) -> RunTerms:
    return run_terms(method, told, api.scoring_of(told), selection or Selection())


def test_the_same_call_is_the_same_run(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("hello\tsaluton\n")
    (tmp_path / "b.tsv").write_text("hello\tsaluton\n")
    one = terms("glossary", glossary=tmp_path / "a.tsv")
    assert one == terms("glossary", glossary=tmp_path / "b.tsv", batch_size=1, multi_ref=False)
    assert (one.method, one.scorer) == ("glossary", VERSION)


def test_anything_else_is_another_run(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("hello\tsaluton\n")
    (tmp_path / "b.tsv").write_text("hello\tadiaux\n")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights").write_text("1")
    made = [
        terms("glossary", glossary=tmp_path / "a.tsv"),
        terms("glossary", glossary=tmp_path / "b.tsv"),
        terms("glossary", glossary=tmp_path / "a.tsv", metrics="chrf"),
        terms("glossary", glossary=tmp_path / "a.tsv", multi_ref=True),
        terms("glossary", glossary=tmp_path / "a.tsv", replicate=1),
        terms("glossary", glossary=tmp_path / "a.tsv", embeddings=str(tmp_path / "model")),
        terms("glossary", Selection(limit=1), glossary=tmp_path / "a.tsv"),
        terms("glossary", Selection(segments=(Segment.DEVELOPMENT,)), glossary=tmp_path / "a.tsv"),
        terms("copy-source"),
        terms("chat", model="m", endpoint="ollama"),
        terms("chat", model="m", endpoint="ollama", temperature=None),
        terms("chat", model="n", endpoint="ollama"),
    ]
    assert len({each.options for each in made}) == len(made)
    (tmp_path / "model" / "weights").write_text("2")
    other = terms("glossary", glossary=tmp_path / "a.tsv", embeddings=str(tmp_path / "model"))
    assert other.options not in {each.options for each in made}


def test_the_code_of_a_plug_in_counts_and_is_not_run(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "echo.py").write_text(PLUGIN)
    one, two = (terms(f"{tmp_path / name}/echo.py:Echo") for name in ("one", "two"))
    assert one == two
    assert one.method == "echo.py:Echo"
    (tmp_path / "two" / "echo.py").write_text(PLUGIN + "\nraise SystemExit\n")
    assert terms(f"{tmp_path / 'two'}/echo.py:Echo").options != one.options


def test_missing_files_and_methods_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.tsv cannot be read"):
        terms("glossary", glossary=tmp_path / "nowhere.tsv")
    with pytest.raises(UsageError, match="'nothing' is not known"):
        terms("nothing")
    with pytest.raises(UsageError, match="batch_size"):
        terms("copy-source", batch_size=0)
