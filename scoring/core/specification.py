"""The tables of the scoring specification, read from ``specification.toml``.

One data file holds inventory, weights and thresholds, so that code and document can be compared line
by line and no number lives in two places. A quality tier says what a composite tends to mean (§5);
``scoring.card.claim`` says what may be claimed. ``scoring.core.inventory`` knows the metrics of packs too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cache
from math import inf, isnan
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeGuard

from corpora.model.task import TRANSLATION


class MetricInfo(NamedTuple):
    """What is fixed about a metric: its row in the inventory (scoring-specification §2)."""

    id: str
    title: str
    low: float
    high: float
    """Range of the value; ``-inf`` and ``inf`` where it has no lower or upper end."""
    better: str
    """``higher``, ``lower``, or ``neither`` (see ``one_is_ideal``)."""
    source: str
    """Section of the seed, or paper, that defines it."""

    @property
    def one_is_ideal(self) -> bool:
        """Return whether 1 is the best value; of a pack's metric that has no better end, no value is."""
        return self.better == "neither" and "." not in self.id


class InventoryRow(NamedTuple):
    """One row of the metric inventory (§2)."""

    info: MetricInfo
    category: str
    """surface, structural, semantic, behavioral or compliance."""
    level: str
    """``both`` for entry and corpus, ``corpus`` where an entry has no value of its own."""
    normalization: str | None
    """``none``, ``percent`` or ``invert`` (§4.2); None for a metric outside the composite."""
    excluded: str | None
    """Why it stays out of the composite (appendix A); None for a metric inside."""
    what: str
    """What it measures, in a sentence for people."""
    status: str
    """``implemented``, ``partial`` or ``absent`` (§3)."""
    lacks: str | None
    """What a partial metric cannot do; None for the others."""
    needs: tuple[str, ...]
    """What a user must have, as keys of ``Specification.needs``."""
    library: str
    """What computes it."""
    interval: bool
    """Whether its corpus value has a bootstrap interval (§8.1)."""
    module: str | None = None
    """Where its ``METRICS`` has it; None where nothing computes it."""
    short: str = ""
    """Its name where room is scarce; empty where the title is short."""
    also: tuple[str, ...] = ()
    """Further names, the first of them the one that is typed."""
    annotators: tuple[str, ...] = ()
    """Ids of the annotators that its value asks, be it only to tell the target's words."""
    given_by: tuple[str, ...] = ()
    """Options that are given for its sake."""
    digits: int = 2
    """Digits after the point on a screen."""
    remark: str | None = None
    """What the value is not, where it is easily taken for something else."""
    tasks: tuple[str, ...] = ()
    """Tasks for which a pack has it; empty: for all of the pack's."""

    @property
    def scale(self) -> str:
        """Range and direction in words: ``0–1``, ``0–∞, lower is better``."""
        low, high = (f"{end:g}".replace("inf", "∞").replace("-", "−") for end in (self.info.low, self.info.high))
        more = {"lower": ", lower is better"}
        ideal = ", 1 is ideal" if self.info.one_is_ideal else ""
        return f"{low}–{high}{more.get(self.info.better, ideal)}"


class Specification(NamedTuple):
    """All tables together."""

    metrics: dict[str, InventoryRow]
    needs: dict[str, str]
    """What a metric may need, in words."""
    profiles: dict[str, dict[str, float]]
    """Target weights of §4.3 by profile and metric id."""
    tiers: tuple[tuple[float, str], ...]
    """Least composite and name, from the top (§5.1)."""


@cache
def specification() -> Specification:
    """Read the tables once."""
    data = tomllib.loads(Path(__file__).with_name("specification.toml").read_text("utf-8"))
    return Specification(
        metrics={id_: table_row(id_, row) for id_, row in data["metrics"].items()},
        needs=data["needs"],
        profiles={name: profile["weights"] for name, profile in data["profiles"].items()},
        tiers=tuple((tier["least"], tier["name"]) for tier in data["tiers"]),
    )


def metric_info(id_: str) -> MetricInfo:
    """Return what the specification fixes about its own metric; KeyError where it has no such row."""
    return specification().metrics[id_].info


def table_row(id_: str, row: dict[str, Any], document: str = "scoring-specification") -> InventoryRow:
    """Read one row of an inventory; KeyError names a field that it lacks."""
    info = MetricInfo(
        id=id_,
        title=row["title"],
        low=row["low"],
        high=row.get("high", inf),
        better=row["better"],
        source=f"{document} {row['section']}",
    )
    must = ("category", "level", "what", "status", "needs", "library", "interval")
    fields = {name: row[name] for name in (*must, *(name for name in InventoryRow._fields if name in row))}
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    return InventoryRow(info, **{**dict.fromkeys(("normalization", "excluded", "lacks")), **fields})


class Tier(StrEnum):
    """The tiers of §5, from the lowest; their order is their rank."""

    UNSCORED = "unscored"
    BASELINE = "baseline"
    EMERGING = "emerging"
    FUNCTIONAL = "functional"
    DEPLOYABLE = "deployable"
    FLUENT = "fluent"

    @property
    def rank(self) -> int:
        """Place from the lowest, 0 for unscored."""
        return _RANKS[self]


_RANKS: Final = {tier: place for place, tier in enumerate(Tier)}


class Weighing(NamedTuple):
    """Weights of the composite and lines of the tiers: those of the specification, or of a calibration."""

    profiles: Mapping[str, Mapping[str, float]]
    """Target weights by profile and metric id (§4.3), each above 0."""
    tiers: tuple[tuple[float, str], ...]
    """Least composite and name, from the top (§5.1)."""
    calibration: str = ""
    """SHA-256 of the signed calibration; empty for the specification's own."""

    def tier(self, composite: float | None) -> Tier:
        """Name the automatic tier of a composite (§5.1)."""
        if composite is None or isnan(composite):
            return Tier.UNSCORED
        for least, name in self.tiers:
            if composite >= least:
                return Tier(name)
        return Tier.UNSCORED


def stated_weighing(scoring: object) -> Weighing | None:
    """Return the weighing of the calibration that a card or an opening states as part of ``scoring``; None without one.

    It may come from elsewhere: what is not of the expected form counts as absent.
    """
    facts = scoring.get("calibration") if isinstance(scoring, Mapping) else None
    if not isinstance(facts, Mapping):
        return None
    weights, tiers = facts.get("weights"), facts.get("tiers")
    if not (_numbers(tiers) and tiers.keys() <= set(Tier) and isinstance(weights, Mapping)):
        return None
    profiles = {
        name: {id_: given[id_] for id_ in own if given.get(id_)}  # a weight of 0 takes it out
        for name, own in specification().profiles.items()
        if _numbers(given := weights.get(name))
    }
    if len(profiles) < len(specification().profiles) or not all(profiles.values()):
        return None
    lines = sorted(((least, name) for name, least in tiers.items()), reverse=True)
    return Weighing(profiles, tuple(lines), str(facts.get("sha256")))


def _numbers(value: object) -> TypeGuard[Mapping[str, float]]:
    return isinstance(value, Mapping) and all(
        isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number <= 1
        for number in value.values()
    )


@cache
def specified() -> Weighing:
    """Return the weights and lines of the specification."""
    return Weighing(specification().profiles, specification().tiers)


def quality_tier(composite: float | None) -> Tier:
    """Name the automatic tier of a composite by the specification's lines (§5.1)."""
    return specified().tier(composite)


COMPOSITE = "composite"
ROSETTA = "rosetta"
"""Name of all metrics of the scoring specification together."""


# ---- The values stored beside each entry of a run, by task: its headline, two further values,
# and whether it is right.
#
# Lists and tables show these first and sort by them; all else follows from the packed statistics.
# A task is what ``dataset.task`` of a corpus says. Only translations have a composite, and with
# it a tier, floors and a claim.

SortValues = tuple[float | None, bool, float | None, float | None]
"""Headline, whether the entry is right, second and third value."""


@dataclass(frozen=True, slots=True)
class KeptColumns:
    """Ids of the metrics, or ``composite``, whose values are kept; empty where there is none."""

    headline: str = ""
    """What runs and entries are shown by first, and ranked by."""
    second: str = ""
    third: str = ""
    right: str = ""
    """The metric by which an entry is right or not."""
    perfect: float = 1.0
    """Its value of an entry that is right."""
    weighing: Weighing | None = field(default=None, compare=False)
    """By whose lines the tiers of composites are named; None: by the specification's."""

    def tier(self, composite: float | None) -> Tier:
        """Name the tier of a composite that is kept of an entry."""
        return (self.weighing or specified()).tier(composite)

    def weighed(self, weighing: Weighing | None) -> KeptColumns:
        """Return the same columns of a run whose tiers are named by these lines."""
        return replace(self, weighing=weighing)

    def names(self) -> dict[str, str | float]:
        """Return the metrics that are kept, by the part that each plays."""
        return {name: metric for name, metric in asdict(self).items() if name != "weighing"}

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the metrics in the order in which they are shown."""
        shown = (self.headline, self.right, self.second, self.third)
        return tuple(dict.fromkeys(filter(None, shown)))

    def kept(self, values: Mapping[str, float | None], composite: float | None = None) -> SortValues:
        """Return the values stored for an entry; one without a value is not right."""
        known = {**values, COMPOSITE: composite}
        right = known.get(self.right)
        return (
            known.get(self.headline),
            right is not None and right == self.perfect,
            known.get(self.second),
            known.get(self.third),
        )

    def told(self, kept: SortValues) -> dict[str, float | None]:
        """Return the values that are kept of an entry by metric id."""
        headline, right, second, third = kept
        values_by_id = {self.headline: headline, self.second: second, self.third: third}
        if self.right not in values_by_id and self.perfect == 1.0:
            values_by_id[self.right] = float(right)
        return {id_: value for id_, value in values_by_id.items() if id_}


TRANSLATIONS = KeptColumns("chrf_plus_plus", COMPOSITE, "equivalent_match_rate", right="exact_match_rate")
_ERROR_FREE = 0.0

TASKS: Mapping[str, KeptColumns] = {
    TRANSLATION: TRANSLATIONS,
    "qa": KeptColumns("lbrag.f1", "lbrag.rlc", "lbrag.semantic_score", right="lbrag.em"),
    "asr": KeptColumns("au.wer", right="au.wer", perfect=_ERROR_FREE),
    "diarization": KeptColumns("au.cpwer", "au.wder", "au.speaker_count_error", right="au.cpwer", perfect=_ERROR_FREE),
    "judged": KeptColumns(
        "au.llm_judge_binary", "au.llm_judge_detailed", "au.llm_judge_redteaming", right="au.llm_judge_binary"
    ),
    "chat": KeptColumns("au.mt_bench_llm_judge"),
    "function_call": KeptColumns("au.bfcl_match_score", right="au.bfcl_match_score"),
    "text2sql": KeptColumns("au.text2sql_score", "au.sql_set_match", right="au.text2sql_score"),
    "ifeval": KeptColumns("au.instruction_following", right="au.instruction_following"),
    "multiple_choice": KeptColumns("au.multiple_choice_accuracy", right="au.multiple_choice_accuracy"),
    "math": KeptColumns("au.gsm8k_exact_match", right="au.gsm8k_exact_match"),
    "dialogue_state": KeptColumns(
        "au.joint_goal_accuracy", "au.slot_accuracy", "au.slot_f1", right="au.joint_goal_accuracy"
    ),
    "response": KeptColumns("nest.overall", "nest.coverage", "nest.richness"),
}
"""Task → what its entries are shown by."""


def columns_of(task: str, metrics: Iterable[str]) -> KeptColumns:
    """Return the columns for the entries of a run of this task that was scored with these metrics.

    Translations always keep the same. Where metrics of another task were not computed, the next of the run's
    take their places, so that every run is shown by something.
    """
    if task == TRANSLATION:
        return TRANSLATIONS
    computed = list(metrics)
    row = TASKS.get(task, KeptColumns())
    liked = (row.headline, row.second, row.third)
    shown = [id_ for id_ in liked if id_ in computed]
    shown += [id_ for id_ in computed if id_ not in {*shown, row.right}]
    headline, second, third = (*shown, "", "", "")[:3]
    if row.right not in computed:
        return KeptColumns(headline, second, third)
    if not headline:
        headline = row.right
    return KeptColumns(headline, second, third, row.right, row.perfect)


def stated_columns(scoring: object) -> KeptColumns:
    """Return the columns for a run by what its card or its opening says as ``scoring``; translations if it says nothing.

    It may come from elsewhere: what is not of the expected form counts as absent.
    """
    stated = scoring if isinstance(scoring, Mapping) else {}
    task, metrics = stated.get("task", TRANSLATION), stated.get("metrics")
    known = metrics if isinstance(metrics, list | tuple) else ()
    kept = columns_of(str(task), [id_ for id_ in known if isinstance(id_, str)])
    return kept.weighed(stated_weighing(stated))
