"""The semantic score: does the output mean what the source means (scoring-specification §2.3)?

Two forms. Where the user has a meaning dictionary of the target language and an analyser, verdicts of fixed
rules (``scoring.grammar.verdicts``) take precedence (appendix B); everywhere else the cosine of embeddings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

from corpora.text.comparison import is_blank
from corpora.text.messages import listed
from scoring.core.metric import (
    FloatArray,
    RateMetric,
    Statistics,
    analyser_key,
    card_key,
    content_key,
    own_signature,
    plain_key,
)
from scoring.core.setup import ScoringSetup, Translation
from scoring.core.specification import metric_info
from scoring.grammar.verdicts import TENTHS, GrammarJudgement, Judge, SemanticVerdict
from scoring.metrics.maker import Maker
from scoring.words.source_words import Resources


class EmbeddingScore(RateMetric):
    """Mean of the cosines of E(source ⏎ output) and E(source ⏎ reference), 0–1, higher is better; a negative one is 0.

    Statistics: sum of the cosines, entries. An empty output counts 0.
    """

    info = metric_info("semantic_score")
    reads_source = True
    why_missing = "the embeddings are worked out when all outputs are in"

    def __init__(self, setup: ScoringSetup) -> None:
        self._setup = setup

    @property
    def signature(self) -> str:
        facts = self._setup.embeddings
        if facts is None:
            return own_signature("form:none")
        place = facts.endpoint or (facts.sha256 or "")[:12]
        return own_signature(f"form:cosine|model:{plain_key(facts.model)}|at:{plain_key(place)}")

    def stats(self, translation: Translation) -> Statistics | None:
        cosine = _cosine(translation)
        if cosine is None:
            return None
        if is_blank(translation.output):
            return (0.0, 1)
        return (min(max(cosine, 0.0), 1.0), 1)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        cosine = _cosine(translation)
        if cosine is None or cosine >= 0:
            return ()
        return ("The meanings point in opposite directions, which counts as 0.",)


def _cosine(translation: Translation) -> float | None:
    """Return the cosine that was computed for a translation, −1–1; None where there is none."""
    given = translation.annotations.get("embeddings")
    return float(given) if isinstance(given, int | float) and math.isfinite(given) else None


class VerdictScore(RateMetric):
    """Mean weight of the verdicts of appendix B, 0–1, higher is better.

    Statistics: weight in tenths, 10, 1 for an exact match, 1 for no output. So sums are whole numbers, and the verdict
    of an entry follows from its statistics.
    """

    info = metric_info("semantic_score")
    width = 4
    reads_source = True
    has_verdicts = True
    why_missing = "no output has been analysed yet"

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    @property
    def signature(self) -> str:
        setup = self._resources.setup
        rules = f"{setup.language_card}-{card_key(setup)}" if setup.language_card else "none-"
        return own_signature(
            f"form:verdicts|dictionary:{content_key(setup.gloss_dictionary_sha256)}"
            f"|analyser:{analyser_key(setup)}|rules:{rules}"
        )

    def stats(self, translation: Translation) -> Statistics | None:
        judgement = self.judgement(translation)
        if judgement is None:
            return None
        exact, nothing = (judgement.verdict == verdict for verdict in ("EXACT_MATCH", "NO_OUTPUT"))
        return (TENTHS[judgement.verdict], 10, int(exact), int(nothing))

    def verdict_of(self, statistics: Statistics) -> str | None:
        """Return the verdict that an entry's statistics stand for; None for numbers that no verdict has."""
        return _BY_STATISTICS.get(tuple(statistics))

    def judgement(self, translation: Translation) -> GrammarJudgement | None:
        """Return the verdict with its reasons; None where analyses are missing."""
        if is_blank(translation.output):
            return GrammarJudgement(SemanticVerdict.NO_OUTPUT)
        words = translation.fst
        return None if words is None else self._judge.judge(translation, words)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        judgement = self.judgement(translation)
        if judgement is None:
            return ()
        words = {
            "Not in the output": judgement.missing,
            "Explained by neither source nor reference": judgement.unexplained,
            "Known to neither analyser nor dictionary": judgement.unknown,
            "Another form of the word than in the reference": judgement.other_grammar,
        }
        order = ("The order of the words differs, and it matters here.",)
        return (
            f"{judgement.verdict}: {_WORDS[judgement.verdict]}.",
            *(f"{what}: {listed(named)}." for what, named in words.items() if named),
            *(order if judgement.reordered else ()),
        )

    @cached_property
    def _judge(self) -> Judge:
        card, writing = self._resources.card, self._resources.writing
        rules = None if card is None else card.variants
        spellings = () if writing is None else writing.normalisation
        return Judge(self._resources.gloss_dictionary, rules, spellings)


_BY_STATISTICS: Mapping[Statistics, str] = {
    (tenths, 10, int(verdict == "EXACT_MATCH"), int(verdict == "NO_OUTPUT")): verdict.value
    for verdict, tenths in TENTHS.items()
}
"""Statistics of an entry → its verdict; no two verdicts have the same."""

_WORDS = {
    SemanticVerdict.EXACT_MATCH: "the words of the reference",
    SemanticVerdict.VALID: "everything is said, and nothing else",
    SemanticVerdict.WRONG_ORDER: "all words are there, but put together differently",
    SemanticVerdict.PARTIAL: "half or more is said",
    SemanticVerdict.INCOMPLETE: "less than half is said",
    SemanticVerdict.WRONG: "nothing of the sentence is said",
    SemanticVerdict.NO_OUTPUT: "there is no output",
}


def semantic_score(resources: Resources) -> EmbeddingScore | VerdictScore:
    """Return the form of the metric that the resources allow, verdicts first."""
    setup = resources.setup
    return VerdictScore(resources) if by_verdicts(setup) else EmbeddingScore(setup)


def by_verdicts(setup: ScoringSetup) -> bool:
    """Return whether the verdict form applies: English source, meaning dictionary, analyser with analyses."""
    analyser = setup.analyser
    return (
        setup.gloss_dictionary > 0
        and analyser is not None
        and not analyser.acceptor
        and setup.source_language.split("-")[0].lower() in {"en", "eng"}
    )


def why_no_semantic_score(resources: Resources) -> str | None:
    """Return what is missing where neither form can have a value, None where one can."""
    setup = resources.setup
    if by_verdicts(setup) or setup.embeddings is not None:
        return None
    if setup.gloss_dictionary == 0:
        return "no embeddings: name an endpoint or a local model folder with --embeddings"
    if setup.analyser is None:
        lack = "no analyser for the words of its language"
    elif setup.analyser.acceptor:
        lack = "an analyser that gives no dictionary forms"
    else:
        lack = "a source that is not English, as its meanings are"
    return f"there is a meaning dictionary, but {lack}; or name a model with --embeddings"


# ---- COMET: a learned judgement, shown but never part of the composite (scoring-specification
# §2.3).

LEAST, MOST = -0.5, 1.5
"""A score beyond these is on another scale (the z-scores of checkpoints before 2022, percentages) and is
refused where it comes in; within them a model may miss its own range of 0–1 by a little."""

_CODES = (
    "cs de en es et fi fr ja lt lv pl ro ru tr uk zh ces deu eng spa est fin fra jpn lit lav pol ron rus tur ukr zho"
)
_WELL_COVERED = frozenset(_CODES.split())
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
    why_missing = "COMET scores are worked out when all outputs are in"

    def __init__(self, resources: Resources) -> None:
        self._setup = resources.setup

    @property
    def signature(self) -> str:
        facts = self._setup.comet
        model = "none" if facts is None else f"{facts.model}-{(facts.sha256 or '')[:12]}"
        source = "file" if facts is not None and facts.imported else "checkpoint"
        warned = "yes" if low_resource(self._setup) else "no"
        warning = f"low-resource-warning:{warned}"
        return own_signature(f"model:{plain_key(model)}|from:{source}|range:0-1|{warning}")

    def stats(self, translation: Translation) -> Statistics | None:
        score = translation.annotations.get("comet")
        if not isinstance(score, int | float) or not math.isfinite(score):
            return None
        if is_blank(translation.output):
            return (0.0, 1, 0)
        inside = min(max(float(score), 0.0), 1.0)
        return (inside, 1, int(inside != score))

    def further(self, total: FloatArray) -> dict[str, float | int | None]:
        return {"comet_low_resource_warning": low_resource(self._setup), "comet_outside_range": int(total[2])}

    def explain(self, translation: Translation) -> tuple[str, ...]:
        statistics = self.stats(translation)
        sentences = []
        if statistics is not None and statistics[2]:
            score = translation.annotations["comet"]
            counts = f"it counts as {statistics[0]:.0f}"
            sentences.append(f"The model gave {score:.4f}, outside its range; {counts}.")
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


METRICS = {"semantic_score": Maker(semantic_score, why_no_semantic_score), "comet_score": Maker(Comet, why_no_comet)}
