"""Real texts of many scripts, each with everything that a run over it is scored with."""

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from corpora.formats.load import load
from corpora.model.corpus import Dataset
from corpora.model.entry import Entry
from corpora.samples import DEMO_COACHING, DEMO_CORPUS, sample_path
from harness.annotators.annotator import NoMemo
from harness.fst.analyser import open_analyser
from harness.setup.preparing import prepare
from harness.setup.scoring_options import ScoringOptions
from harness.setup.scoring_tools import ScoringTools
from tests.harness.fst.making import layout_of, spelt_by
from tests.outside import DESCRIPTIVE, STRICT, TEXTS

__all__ = ["CORPORA", "DESCRIPTIVE", "STRICT", "TEXTS", "cree", "tools"]

NEWS = {
    "fin": "fi", "hin": "hi", "arb": "ar", "jpn": "ja", "amh": "am", "ukr": "uk", "mri": "mi",
    "spa": "es",
}  # fmt: skip
"""File of NTREX-128 → tag."""
RIGHTS = {"csw": "csw-Cans", "ike": "iu-Cans", "sme": "se"}
"""File of the Universal Declaration of Human Rights → tag."""
CORPORA = ["demo", *NEWS, *RIGHTS, "cree"]
ENTRIES = 300


@cache
def tools(name: str, options: ScoringOptions | None = None, size: int = ENTRIES) -> ScoringTools:
    """Everything that a run over the first entries of one of the corpora is scored with."""
    if name == "demo":
        corpus = load(sample_path(DEMO_CORPUS))
        terms = sample_path(DEMO_COACHING)
        return _prepared(corpus.dataset, corpus.reveal_here()[:size], options, coaching=terms)
    if not (TEXTS.exists() and STRICT.exists()):
        pytest.skip("no test data at data/text and data/fst")
    if name == "cree":
        told = options or ScoringOptions(analyser=STRICT)
        return _prepared(_dataset("crk-Latn"), list(_cree()), told)
    if name in RIGHTS:
        references = list(_declaration(name))[:size]
        return _prepared(_dataset(RIGHTS[name]), _entries(_numbered_english(), references), options)
    references = _lines(f"ref.{name}")[:size]
    return _prepared(_dataset(NEWS[name]), _entries(_lines("src.eng"), references), options)


def cree(number: int, analyser: Path, unknown: float = 0.0) -> ScoringTools:
    """Entries without gold analyses; a share of the words of the references is such as no analyser knows."""
    entries = [_with_unknown(entry, unknown) for entry in _cree(number)]
    return _prepared(_dataset("crk-Latn"), entries, ScoringOptions(analyser=analyser))


def _with_unknown(entry: Entry, share: float) -> Entry:
    """Turn some words round, each one always or never."""
    words = [word[::-1] if random.Random(word).random() < share else word for word in entry.reference.split()]
    return entry.model_copy(update={"reference": " ".join(words), "morphological_analysis": None})


def _prepared(
    dataset: Dataset, entries: Sequence[Entry], options: ScoringOptions | None = None, coaching: Path | None = None
) -> ScoringTools:
    asked = options or ScoringOptions()
    return prepare(dataset, entries, entries, asked, NoMemo(), coaching=coaching)


def _dataset(target: str) -> Dataset:
    return Dataset(id=target, language_pair="EN→X", source_language="en", target_language=target)


def _entries(sources: Sequence[str], references: Sequence[str]) -> list[Entry]:
    return [
        Entry(id=place, source=source, reference=reference)
        for place, (source, reference) in enumerate(zip(sources, references, strict=False))
    ]


def _lines(name: str) -> list[str]:
    return (TEXTS / f"ntrex-newstest2019-{name}.txt").read_text("utf-8").splitlines()


def _numbered_english() -> list[str]:
    """Stand in for sources: English sentences that say something else, each with a number of its own."""
    return [f"{place}. {line}" for place, line in enumerate(_lines("src.eng"), 1)]


def _declaration(name: str) -> Iterator[str]:
    for element in ET.parse(TEXTS / f"udhr_{name}.xml").getroot().iter():
        if element.tag.endswith(("para", "title")) and (text := "".join(element.itertext()).strip()):
            yield text


def _cree(number: int = 240) -> Iterator[Entry]:
    """Make entries of words that the strict analyser of Plains Cree accepts, with its own analyses as gold.

    The words are found by walking through the analyser. Its placeholder for a stem (CHECK) and changed
    forms, which it builds from any stem without the glide between two vowels, nobody writes.
    """
    strings = "wâpamêw+V+TA+Ind+1Sg+3SgO atim+N+A+Sg"
    yield Entry(id=0, source="I see a dog", reference="niwâpamâw atim", morphological_analysis=strings)
    found = spelt_by(layout_of(STRICT), 1200)
    analyses = dict(zip(found, open_analyser(STRICT).analyse(found), strict=True))
    words = [
        word
        for word, (_, strings) in analyses.items()
        if word.islower() and " " not in word and not any("IC+" in each for each in strings)
    ]
    choice, sources = random.Random(5), iter(_numbered_english())
    for place in range(1, number):
        chosen = choice.sample(words, choice.randint(2, 7))
        yield Entry(
            id=place,
            source=" ".join(islice(next(sources).split(), 2 * len(chosen))),
            reference=" ".join(chosen),
            morphological_analysis=" ".join(analyses[word][1][0] for word in chosen),
        )
