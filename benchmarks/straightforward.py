"""A scoring pipeline as one writes it in an afternoon from the usual libraries, to be measured against.

Run as ``python -m benchmarks.straightforward CORPUS OUTPUTS ANALYSER DATABASE``. sacreBLEU entry by entry and
for the corpus with its own bootstrap, pyhfst word by word, nltk's word alignment, plain loops for the other
metrics with numpy's bootstrap of their means, sqlite-utils row by row, one JSON card at the end. A fifth
argument ``unaligned`` leaves the alignment out.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import sqlite_utils
from sacrebleu.metrics import BLEU, CHRF, TER

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_LETTERS = set("aâcehêiîkmnoôpstwyl-")
_VARIABLE = re.compile(r"\{[^{}]*\}")


def main(corpus: Path, outputs: Path, analyser: Path, database: Path, *, aligned: bool) -> None:
    """Score every entry, store it, and write the card."""
    import pyhfst  # noqa: PLC0415  so that a missing one is said where it is used

    entries = json.loads(corpus.read_text("utf-8"))["entries"]
    texts = [json.loads(line)["output"] for line in outputs.read_text("utf-8").splitlines()]
    fst = pyhfst.HfstInputStream(str(analyser)).read()
    chrf, ter = CHRF(word_order=2), TER()
    db = sqlite_utils.Database(database)
    vocabulary = {word for entry in entries for word in _WORD.findall(entry["reference"].lower())}
    links = _links(entries) if aligned else {}
    for entry, text in zip(entries, texts, strict=True):
        db.table("results").insert(_row(entry, text, chrf, ter, fst, vocabulary, links), pk="id")
    references = [[entry["reference"] for entry in entries]]
    card: dict[str, Any] = {}
    for name, metric in (
        ("chrf", CHRF(word_order=2, references=references)),
        ("bleu", BLEU(references=references)),
        ("ter", TER(references=references)),
    ):
        score = metric.corpus_score(texts, None, n_bootstrap=1000)
        card[name] = str(score)
    rows = list(db["results"].rows)
    random = np.random.default_rng(12345)
    for name in ("exact", "fst", "code_switching", "support", "orthography", "variables", "length"):
        values = np.array([row[name] for row in rows])
        draws = [random.choice(values, len(values)).mean() for _ in range(1000)]
        card[name] = [values.mean(), *np.percentile(draws, (2.5, 97.5))]
    print(json.dumps(card))


def _links(entries: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Learn which target words translate which source words."""
    from nltk.translate import AlignedSent, IBMModel1  # noqa: PLC0415  only where it is asked for

    pairs = [
        AlignedSent(_WORD.findall(entry["reference"].lower()), _WORD.findall(entry["source"].lower()))
        for entry in entries
    ]
    table = IBMModel1(pairs, 5).translation_table
    return {
        target: {source for source, chance in sources.items() if chance >= 0.01} for target, sources in table.items()
    }


def _row(
    entry: dict[str, Any], text: str, chrf: Any, ter: Any, fst: Any, vocabulary: set[str], links: dict[str, set[str]]
) -> dict[str, Any]:
    """Score one entry."""
    reference = entry["reference"]
    words = _WORD.findall(text)
    source = set(_WORD.findall(entry["source"].lower()))
    expected = set(_WORD.findall(reference.lower()))
    analyses = [fst.lookup(word) for word in words]
    count = max(1, len(words))
    return {
        "id": entry["id"],
        "source": entry["source"],
        "reference": reference,
        "output": text,
        "exact": int(text == reference),
        "chrf": chrf.sentence_score(text, [reference]).score,
        "ter": ter.sentence_score(text, [reference]).score,
        "length": len(text) / len(reference),
        "fst": sum(bool(found) for found in analyses) / count,
        "analyses": json.dumps([[str(one[0]) for one in found] for found in analyses]),
        "code_switching": sum(word.lower() in source and word.lower() not in vocabulary for word in words) / count,
        "support": sum(word.lower() in expected or bool(links.get(word.lower(), set()) & source) for word in words)
        / count,
        "orthography": sum(set(word.lower()) <= _LETTERS for word in words) / count,
        "variables": int(sorted(_VARIABLE.findall(text)) == sorted(_VARIABLE.findall(entry["source"]))),
    }


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:5]), aligned="unaligned" not in sys.argv)
