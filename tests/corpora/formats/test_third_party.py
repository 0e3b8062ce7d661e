"""Corpora that are not ours: NTREX-128, 1,997 lines in eight languages."""

from pathlib import Path

import pytest

from corpora.checks.requirements import statistics
from corpora.formats.load import load
from corpora.formats.write import write
from corpora.model.corpus import Form
from tests.outside import ENGLISH, only_with, published
from tests.review.thorough import first

SCRIPTS = {
    "fin": "Latin", "hin": "Devanagari", "arb": "Arabic", "amh": "Ethiopic", "ukr": "Cyrillic",
    "mri": "Latin", "spa": "Latin",
}  # fmt: skip

pytestmark = only_with(ENGLISH)


def reference(language: str) -> Path:
    return published(language)


@pytest.mark.parametrize("language", first(2, ["jpn", *SCRIPTS]))
def test_each_language_loads_without_a_hand_edit(language: str) -> None:
    corpus = load(ENGLISH, reference(language))
    assert len(corpus.entries) == 1997
    assert (corpus.dataset.source_language, corpus.dataset.target_language) == ("eng", language)
    if language in SCRIPTS:
        script, share = next(iter(statistics(corpus).reference.scripts.items()))
        assert script == SCRIPTS[language]
        assert share > 0.9


@pytest.mark.thorough
def test_every_form_carries_a_real_corpus(tmp_path: Path) -> None:
    for form in [form for form in Form if form.written and form is not Form.PARALLEL]:
        corpus = load(ENGLISH, reference("arb"), dataset={"license": "CC-BY-SA-4.0"})
        write(corpus, tmp_path / "copy", form)
        copy = load(tmp_path / "copy")
        assert copy.form is form
        assert (copy.entries, copy.dataset) == (corpus.entries, corpus.dataset)


def test_two_text_files_come_back_line_by_line(tmp_path: Path) -> None:
    corpus = load(ENGLISH, reference("hin"))
    out = tmp_path / ENGLISH.name, tmp_path / "x.hin.txt"
    write(corpus, out[0], Form.PARALLEL, reference=out[1])
    written = [line.rstrip("\r") for line in out[1].read_text("utf-8").split("\n")]
    published = [line.rstrip("\r") for line in reference("hin").read_text("utf-8").split("\n")]
    assert written == published
