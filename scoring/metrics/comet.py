"""COMET: a learned judgement, shown but never part of the composite (scoring-specification §2.3)."""

from __future__ import annotations

import math

from corpora.text.comparison import is_blank
from scoring.core.metric import FloatArray, RateMetric, Statistics, own_signature
from scoring.core.setup import ScoringSetup
from scoring.core.specification import metric_info
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker
from scoring.words.resources import Resources

LEAST, MOST = -0.5, 1.5
"""A score beyond these is on another scale (the z-scores of checkpoints before 2022, percentages) and is
refused where it comes in; within them a model may miss its own range of 0–1 by a little."""

_WELL_COVERED = frozenset(
    {
        *(
            "cs",
            "de",
            "en",
            "es",
            "et",
            "fi",
            "fr",
            "ja",
            "lt",
            "lv",
            "pl",
            "ro",
            "ru",
            "tr",
            "uk",
            "zh",
        ),
        *(
            "ces",
            "deu",
            "eng",
            "spa",
            "est",
            "fin",
            "fra",
            "jpn",
            "lit",
            "lav",
            "pol",
            "ron",
            "rus",
            "tur",
        ),
        *("ukr", "zho"),
    }
)
"""Languages with human judgements of many systems in the WMT campaigns that COMET learned from."""

_WARNING = (
    "COMET learned from judgements of large languages; for this one its values are not calibrated. "
    "Compare systems with it at most, never against a threshold."
)


class Comet(RateMetric):
    """Mean of the checkpoint's scores, 0–1, higher is better.

    Statistics are (sum of scores, entries, scores outside 0–1). The regression behind COMET can leave its
    range; such a score counts as the nearer end, and how many there were continues the card as
    ``comet_outside_range``, so that nothing is cut off in silence. An empty output counts 0.
    """

    info = metric_info("comet_score")
    reads_source = True
    width = 3

    def __init__(self, resources: Resources) -> None:
        self._setup = resources.setup

    @property
    def signature(self) -> str:
        facts = self._setup.comet
        model = "none" if facts is None else f"{facts.model}-{(facts.sha256 or '')[:12]}"
        plain = model.replace("|", "/").replace(":", "=")
        source = "file" if facts is not None and facts.imported else "checkpoint"
        warned = "yes" if low_resource(self._setup) else "no"
        return own_signature(f"model:{plain}|from:{source}|range:0-1|low-resource-warning:{warned}")

    @property
    def why_missing(self) -> str:
        return "COMET scores are worked out when all outputs are in"

    def stats(self, translation: Translation) -> Statistics | None:
        score = translation.annotations.get("comet")
        if not isinstance(score, int | float) or not math.isfinite(score):
            return None
        if is_blank(translation.output):
            return (0.0, 1, 0)
        inside = min(max(float(score), 0.0), 1.0)
        return (inside, 1, int(inside != score))

    def further(self, total: FloatArray) -> dict[str, float | int | None]:
        """Return the warning flag and how many scores lay outside the range."""
        return {
            "comet_low_resource_warning": low_resource(self._setup),
            "comet_outside_range": int(total[2]),
        }

    def explain(self, translation: Translation) -> tuple[str, ...]:
        """Return what to make of the value."""
        statistics = self.stats(translation)
        sentences = []
        if statistics is not None and statistics[2]:
            score = translation.annotations["comet"]
            sentences.append(
                f"The model gave {score:.4f}, outside its range; it counts as {statistics[0]:.0f}."
            )
        if statistics is not None and low_resource(self._setup):
            sentences.append(_WARNING)
        return tuple(sentences)


def low_resource(setup: ScoringSetup) -> bool:
    """Return whether one side of the pair is a language for which COMET is not calibrated."""
    tags = (setup.source_language, setup.target_language)
    return not all(tag.replace("_", "-").split("-")[0].lower() in _WELL_COVERED for tag in tags)


def why_no_comet(resources: Resources) -> str | None:
    """Return what is missing where there are no scores."""
    if resources.setup.comet is not None:
        return None
    return "no COMET scores: name a local checkpoint or a file of scores with --comet"


METRICS = {"comet_score": Maker(Comet, why_no_comet)}
