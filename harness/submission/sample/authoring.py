"""Writes the sample as a folder that ``pack`` takes, with everything but the card of its run."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

from corpora.samples import DEMO_CORPUS, DEMO_GLOSSARY, sample_path
from harness.submission.bundle import unpack_into
from harness.submission.members import CODE, DATA, README, SHEET

SampleLane = Literal["code", "data"]
TERMS: Final = "terms.txt"
_LANES: Final = {
    "code": 'lane = "code"\nentry = "word_by_word:WordByWord"\n',
    "data": 'lane = "data"\nmethod = "glossary"\nfiles = { glossary = "data/words.tsv" }\n',
}
_SHEET: Final = """name = "Word by word ({lane})"
release = "1"
submitter = "A newcomer"
licence = "CC0-1.0"

[method]
{method}
[costs]
usd_per_entry = 0.0
hardware = "any laptop"

[[development]]
corpus = "eo-demo-v1"
use = "none"
"""
_README: Final = """# Word by word

Replaces each word that a table of English and Esperanto words has.

## Limitations

It knows no grammar: endings, word order and words of several meanings are mostly wrong.
"""


def write_sample(folder: Path, lane: SampleLane) -> Path:
    """Write the sample into a new folder, and return that."""
    words = sample_path(DEMO_GLOSSARY).read_bytes()
    members = {SHEET: _SHEET.format(lane=lane, method=_LANES[lane]).encode(), README: _README.encode()}
    if lane == "code":
        members |= {
            f"{CODE}/word_by_word.py": files(__package__).joinpath("word_by_word.py").read_text("utf-8").encode(),
            f"{CODE}/words.tsv": words,
        }
    else:
        members[f"{DATA}/words.tsv"] = words
    unpack_into(members, folder)
    return folder


def sample_terms() -> bytes:
    """Return the terms that the sample accepts."""
    return files(__package__).joinpath(TERMS).read_bytes()


def sample_corpus() -> Path:
    """Return the open corpus that the sample is for."""
    return sample_path(DEMO_CORPUS)
