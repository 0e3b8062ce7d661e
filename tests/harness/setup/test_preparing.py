"""What a run is scored with is refused at once where its parts do not fit each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.languages.shipped.epo.build import ANALYSER
from harness.core.failures import UsageError
from tests.corpora.languages.least_card import LEAST
from tests.harness.evaluation import corpus, kept, run_corpus
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
def test_a_card_fits_by_its_tag_or_an_alias(
    store_path: Path, tmp_path: Path, tag: str, more: str
) -> None:
    run_corpus(
        store_path, corpus(2), constant(("rosetta",), language_card=card(tmp_path, tag, more))
    )
    found = kept(store_path).card
    assert found is not None
    assert found["scoring"]["language_card"] == tag


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
