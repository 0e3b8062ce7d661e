"""The values stored beside each entry of a run, by task: its headline, two further values, and whether it is right.

Lists and tables show these first and sort by them; all else follows from the packed statistics. A task is what
``dataset.task`` of a corpus says. Only translations have a composite, and with it a tier, floors and a claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from corpora.tasks.task import TRANSLATION
from scoring.core.specification import COMPOSITE, Tier, Weighing, specified, stated_weighing

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

    def names(self) -> dict[str, Any]:
        """Return the metrics that are kept, by the part that each plays."""
        return {name: metric for name, metric in asdict(self).items() if name != "weighing"}

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the metrics in the order in which they are shown."""
        shown = (self.headline, self.right, self.second, self.third)
        return tuple(dict.fromkeys(filter(None, shown)))

    def kept(
        self, values: Mapping[str, float | None], composite: float | None = None
    ) -> SortValues:
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


TRANSLATIONS = KeptColumns(
    "chrf_plus_plus", COMPOSITE, "equivalent_match_rate", right="exact_match_rate"
)

_ERROR_FREE = 0.0

TASKS: Mapping[str, KeptColumns] = {
    TRANSLATION: TRANSLATIONS,
    "qa": KeptColumns("lbrag.f1", "lbrag.rlc", "lbrag.semantic_score", right="lbrag.em"),
    "asr": KeptColumns("au.wer", right="au.wer", perfect=_ERROR_FREE),
    "diarization": KeptColumns(
        "au.cpwer", "au.wder", "au.speaker_count_error", right="au.cpwer", perfect=_ERROR_FREE
    ),
    "judged": KeptColumns(
        "au.llm_judge_binary",
        "au.llm_judge_detailed",
        "au.llm_judge_redteaming",
        right="au.llm_judge_binary",
    ),
    "chat": KeptColumns("au.mt_bench_llm_judge"),
    "function_call": KeptColumns("au.bfcl_match_score", right="au.bfcl_match_score"),
    "text2sql": KeptColumns("au.text2sql_score", "au.sql_set_match", right="au.text2sql_score"),
    "ifeval": KeptColumns("au.instruction_following", right="au.instruction_following"),
    "multiple_choice": KeptColumns(
        "au.multiple_choice_accuracy", right="au.multiple_choice_accuracy"
    ),
    "math": KeptColumns("au.gsm8k_exact_match", right="au.gsm8k_exact_match"),
    "dialogue_state": KeptColumns(
        "au.joint_goal_accuracy",
        "au.slot_accuracy",
        "au.slot_f1",
        right="au.joint_goal_accuracy",
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
