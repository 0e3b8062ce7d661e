"""Statistics and scores per entry against sacreBLEU's, on the same texts in the same run.

Run from the repository: ``python -m benchmarks.scoring_statistics [ENTRIES]``.
"""

from __future__ import annotations

import os
import sys
from functools import partial

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

from benchmarks.clock import best_cpu_seconds, ratio_line
from benchmarks.synthetic import translations
from scoring.core.metric import Metric
from scoring.core.setup import Translation
from scoring.metrics.chrf_bleu import Bleu, ChrfPlusPlus
from scoring.metrics.match_ter import Ter


def ours(metric: Metric, items: list[Translation]) -> float | None:
    """Take the statistics once and give sentence and corpus values from them."""
    rows = np.array(metric.stats_many(items), dtype=np.float64)
    metric.values(rows)
    return metric.value(rows.sum(axis=0))


def forget() -> None:
    """Empty sacreBLEU's caches of tokenised lines, which a second round would otherwise find full."""
    for tokenizer in (Tokenizer13a, TokenizerRegexp, TercomTokenizer):
        tokenizer.__call__.cache_clear()


def main(entries: int) -> None:
    """Print one line per metric."""
    items = translations(entries)
    outputs = [item.output for item in items]
    references = [item.entry.reference for item in items]
    chrf, ter = CHRF(word_order=2), TER()

    def sacrebleu_chrf() -> float:
        for output, reference in zip(outputs, references, strict=True):
            chrf.sentence_score(output, [reference])
        return float(chrf.corpus_score(outputs, [references]).score)

    def sacrebleu_ter() -> float:
        forget()
        for output, reference in zip(outputs, references, strict=True):
            ter.sentence_score(output, [reference])
        return 0.0

    def sacrebleu_bleu() -> float:
        forget()
        return float(BLEU().corpus_score(outputs, [references]).score)

    print(f"{entries} entries; CPU time per entry, best of 3, in turns, caches cold")
    for what, metric, theirs, goal in (
        ("chrF++ sentences and corpus", ChrfPlusPlus(), sacrebleu_chrf, 12),
        ("TER sentences", Ter(), sacrebleu_ter, 4),
        ("BLEU statistics and corpus (13a)", Bleu(), sacrebleu_bleu, 5),
    ):
        best = best_cpu_seconds({"ours": partial(ours, metric, items), "theirs": theirs})
        print(ratio_line(what, best["ours"], best["theirs"], goal, entries))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
