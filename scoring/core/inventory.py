"""Every metric that there is: those of the scoring specification and those of packs, and how they are called.

A metric is known by its id, its title, and its short name; in any case, and with or without spaces, hyphens and
underscores. A plus counts, for chrF+ is another metric than chrF++. What several have goes to the specification's,
then to the packs' that come with the program. Installed packages are examined only for a name that none of these has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, log2
from typing import TYPE_CHECKING, TypeVar

from corpora.model.task import TRANSLATION
from corpora.text.messages import near_names, one_of, percent
from scoring.core.packs import SHIPPED, Pack, every_pack, installed_packs, pack_named, shipped_packs
from scoring.core.specification import COMPOSITE, ROSETTA, InventoryRow, Tier, Weighing, specification, specified

if TYPE_CHECKING:
    from scoring.core.metric import FloatArray


# ---- What the tables say of one metric: its row, its pack, and how it is called ----
#
# Tables of packs are read only for an id that names a pack: lists of translations start without
# them.


def row_of(id_: str) -> InventoryRow | None:
    """Return the row of a metric's table; None where no table here has it."""
    row = specification().metrics.get(id_)
    if row is None and (pack := pack_of(id_)) is not None:
        return pack.rows.get(id_)
    return row


def known_row(id_: str) -> InventoryRow:
    """Return the row of a metric that there is; KeyError where no table here has it."""
    row = row_of(id_)
    if row is None:
        raise KeyError(id_)
    return row


def pack_of(id_: str) -> Pack | None:
    """Return the pack that a metric's id names; None for the specification's, and for a pack that is not here."""
    name, point, _ = id_.partition(".")
    return pack_named(name) if point else None


def direction(id_: str) -> str:
    """Return which values of a metric, or of the composite, are better; KeyError where no table here has it."""
    return "higher" if id_ == COMPOSITE else known_row(id_).info.better


def title(metric: str) -> str:
    """Return a metric's name as its table has it; what is no metric as it stands."""
    row = row_of(metric)
    return metric if row is None else row.info.title


def short_title(metric: str) -> str:
    """Return a metric's name where room is scarce, as at the head of a column."""
    row = row_of(metric)
    return metric if row is None else row.short or row.info.title


_ALSO_COMPOSITE = ("comp",)


def shipped_inventory() -> dict[str, InventoryRow]:
    """Return the rows of all metrics that come with the program, by id, in the order of their tables."""
    return _rows(shipped_packs())


def inventory() -> dict[str, InventoryRow]:
    """Return the rows of all metrics, those of installed packs too, by id, in the order of their tables."""
    return _rows(every_pack())


def _rows(packs: Iterable[Pack]) -> dict[str, InventoryRow]:
    packed = {id_: row for pack in packs for id_, row in pack.rows.items()}
    return {**specification().metrics, **packed}


def in_order(ids: Iterable[str]) -> list[str]:
    """Return ids of metrics, each once, in the order of the tables; those of no table here come last."""
    wanted = dict.fromkeys(ids)
    ordered_ids = [id_ for id_ in specification().metrics if id_ in wanted]
    names = {id_.partition(".")[0] for id_ in wanted if "." in id_}
    for name in dict.fromkeys([*SHIPPED, *sorted(names)]):
        pack = pack_named(name) if name in names else None
        ordered_ids += [id_ for id_ in (pack.rows if pack else ()) if id_ in wanted]
    return list(dict.fromkeys([*ordered_ids, *wanted]))


def by_category(metrics: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Group metrics by their categories, both in the order of the tables."""
    groups: dict[str, list[str]] = {}
    for metric in in_order(metrics):
        if row := row_of(metric):
            groups.setdefault(row.category, []).append(metric)
    return list(groups.items())


def reported_metrics(metrics: Iterable[str], off: Iterable[str] = ()) -> list[str]:
    """Return the metrics that a run gives a value of, or a reason why there is none.

    They are all of the specification where the run has any of them or none of a pack, and of packs those that it
    has or that are ``off`` in it.
    """
    has, packed = list(metrics), [id_ for id_ in off if "." in id_]
    ours, own = [id_ for id_ in has if "." in id_], specification().metrics
    whole = own if not ours or any(id_ in own for id_ in has) else ()
    return in_order([*whole, *ours, *packed])


def read_by(annotator: str, ids: Iterable[str]) -> frozenset[str]:
    """Return those of some metrics that ask an annotator."""
    rows = ((id_, row_of(id_)) for id_ in ids)
    return frozenset(id_ for id_, row in rows if row and annotator in row.annotators)


def packs_of(ids: Iterable[str]) -> dict[str, str]:
    """Return the packs of some metrics with their versions, by name."""
    packs = (pack_of(id_) for id_ in ids)
    return {pack.name: pack.version for pack in packs if pack is not None}


def task_metrics(names: Iterable[str], task: str | None = None) -> frozenset[str]:
    """Return the ids of metrics that are named; a name is an id, or that of a pack for all it has for a task.

    Without a task they are all that the pack has.
    """
    ids: set[str] = set()
    for name in names:
        if name == ROSETTA:
            ids |= specification().metrics.keys()
        elif (pack := _pack_called(name)) is not None:
            ids |= set(pack.rows if task is None else pack.for_task(task))
        else:
            ids.add(name)
    return frozenset(ids)


def _pack_called(name: str) -> Pack | None:
    """Return the pack of this name; None for what has a point, or is a metric of the specification."""
    return None if "." in name or name == ROSETTA or name in specification().metrics else pack_named(name)


def without_packs(names: Sequence[str], task: str) -> tuple[str, ...]:
    """Return names of metrics with those that each named pack has for a task in its place; the specification stays."""
    ids = (id_ for name in names for id_ in (in_order(task_metrics([name], task)) if _pack_called(name) else [name]))
    return tuple(dict.fromkeys(ids))


def task_packs(task: str) -> tuple[str, ...]:
    """Return the packs by which runs of a task are scored where nobody says otherwise."""
    if task == TRANSLATION:
        return (ROSETTA,)
    return tuple(pack.name for pack in shipped_packs() if task in pack.tasks) or (ROSETTA,)


def metric_task(id_: str) -> str:
    """Return the task whose records a metric reads: its own, else the only one of its pack, else translation."""
    row, pack = row_of(id_), pack_of(id_)
    of_pack = pack.tasks if pack is not None and len(pack.tasks) == 1 else ()
    return next(iter((*(row.tasks if row else ()), *of_pack)), TRANSLATION)


def why_as_stated(ids: Iterable[str], versions: Mapping[str, str]) -> dict[str, str]:
    """Return why values of some packs' metrics can only be repeated as stated, by id; those that can be computed are left out.

    ``versions`` are those that the values were computed with, by pack.
    """
    reasons = {id_: _why_as_stated(id_, versions) for id_ in ids if "." in id_}
    return {id_: why for id_, why in reasons.items() if why is not None}


def _why_as_stated(id_: str, versions: Mapping[str, str]) -> str | None:
    name = id_.partition(".")[0]
    pack, stated = pack_named(name), versions.get(name, "")
    versioned_name = f"{name} {stated}".strip()
    if pack is None:
        broken = any(trouble.name == name for trouble in installed_packs()[1])
        why = "cannot be used here (see rosetta doctor)" if broken else "is not installed"
        return f"{versioned_name} {why}: values as stated"
    if stated and stated != pack.version:
        return f"{versioned_name} is not installed but {pack.version}: values as stated"
    if id_ not in pack.rows:
        return f"{versioned_name} has no such metric here: values as stated"
    return None


def typed_name(metric: str) -> str:
    """Return the shortest name that a shell takes without quotes: ``chrf``, ``bleu``, ``lbrag.f1``."""
    row = row_of(metric)
    if row is None or "." in metric:
        return metric.lower()
    return row.also[0] if row.also else short_title(metric).lower()


def metric_named(words: str) -> str | None:
    """Return the id of the metric (or ``composite``) that goes by this name; None where there is none."""
    wanted = _letters(words)
    known = (id_ for ids in _all() for id_ in ids)
    return next((id_ for id_ in known if wanted in {_letters(name) for name in _names(id_)}), None)


def pack_called(words: str) -> str | None:
    """Return the name of the pack that goes by these words, ``rosetta`` for the specification's metrics."""
    wanted = words.strip().casefold()
    if wanted == ROSETTA:
        return ROSETTA
    return wanted if wanted and "." not in wanted and pack_named(wanted) else None


def unknown_metric(words: str, packs: Iterable[str] = ()) -> str:
    """Return that there is no such metric, with the nearest, else with all short names; without a full stop.

    ``packs`` are names that would do as well.
    """
    ids = [id_ for part in _all() for id_ in part]
    names = {name: typed_name(id_) for id_ in ids for name in _names(id_)} | {p: p for p in packs}
    if absent := _absent_pack(words):
        return absent
    near = dict.fromkeys(names[name] for name in near_names(words, names))
    if near:
        return f"there is no metric {words[:40]!r}; did you mean {one_of(near)}?"
    own = (*specification().metrics, COMPOSITE)
    known = ", ".join([*map(typed_name, own), *packs])
    return f"there is no metric {words[:40]!r}; there are {known}"


def _absent_pack(words: str) -> str:
    """Return that the pack which an id names is not here; empty where it is, or none is named."""
    name, point, _ = words.strip().casefold().partition(".")
    packs = [pack.name for pack in every_pack()]
    if not point or not name or pack_named(name) or near_names(name, packs):
        return ""
    for trouble in installed_packs()[1]:
        if trouble.name == name:
            return f"the pack {name!r} cannot be used: {trouble.why.rstrip('.')}"
    here = ", ".join([ROSETTA, *packs])
    return f"there is no pack {name[:40]!r} here; there are {here}"


def _all() -> Iterator[Iterable[str]]:
    """Yield ids, the next part of them only when it is asked for."""
    yield (*specification().metrics, COMPOSITE)
    for pack in shipped_packs():
        yield pack.rows
    for pack in installed_packs()[0].values():
        yield pack.rows


def _names(metric: str) -> Iterator[str]:
    row = row_of(metric)
    also = _ALSO_COMPOSITE if row is None else row.also
    yield from (metric, title(metric), short_title(metric), *also)


def _letters(words: str) -> str:
    return "".join(letter for letter in words.casefold() if letter.isalnum() or letter == "+")


# ---- The composite: a weighted mean of what has a value, with weights re-normalised (§4) ----
#
# A number without its parts flatters, so the composite always lists its inputs, effective
# weights, what is missing and why, and how much of the profile's weight is covered.

Values = TypeVar("Values", float, "FloatArray")
STRUCTURAL_KEY = "fst_acceptance_rate"
"""The metric whose value decides for profile A (METRICS §7)."""


@dataclass(frozen=True, slots=True)
class Input:
    """One metric inside a composite."""

    metric: str
    value: float
    """On the metric's own scale."""
    normalised: float
    """0–1, 1 is perfect (§4.2)."""
    weight: float
    """Target weight of §4.3."""
    effective_weight: float
    """Share of the composite after re-normalisation; all of them sum to 1."""


@dataclass(frozen=True, slots=True)
class Composite:
    """A composite with everything needed to recompute and to judge it."""

    value: float | None
    """0–1, higher is better; None where no input has a value."""
    profile: str
    """``A`` or ``B`` (§4.3)."""
    profile_reason: str
    inputs: tuple[Input, ...]
    missing: dict[str, str]
    """Metrics of the profile without a value, and why."""
    coverage: float
    """Share of the profile's weight that has a value, 0–1."""
    weighing: Weighing = field(default_factory=specified)
    """Of which weights it is made, and by which lines its tier is named."""

    @property
    def tier(self) -> Tier:
        """The automatic tier."""
        return self.weighing.tier(self.value)


def composite(
    values: Mapping[str, object], reasons: Mapping[str, str] | None = None, weighing: Weighing | None = None
) -> Composite:
    """Fold values by metric id into a composite; by the specification's weights where no others are given.

    A boolean, NaN or infinity is not a value. ``reasons`` says why a metric has none.
    """
    reasons, weighing = reasons or {}, weighing or specified()
    read = {id_: _number(value) for id_, value in values.items()}
    numbers = {id_: number for id_, number in read.items() if number is not None}
    profile = profile_for(numbers)
    lacking = f"FST acceptance has no value: {reasons.get(STRUCTURAL_KEY, 'it was not computed')}"
    weights = weighing.profiles[profile]
    present = {id_: weight for id_, weight in weights.items() if id_ in numbers}
    covered = sum(present.values())
    inputs = tuple(
        Input(id_, numbers[id_], normalised(id_, numbers[id_]), weight, weight / covered)
        for id_, weight in present.items()
    )
    return Composite(
        value=sum(i.weight * i.normalised for i in inputs) / covered if inputs else None,
        profile=profile,
        profile_reason="FST acceptance has a value" if profile == "A" else lacking,
        inputs=inputs,
        missing={id_: reasons.get(id_, "no value") for id_ in weights if id_ not in present},
        coverage=covered / sum(weights.values()),
        weighing=weighing,
    )


def counting_gaps(mixed: Composite, attainable: Collection[str]) -> float | None:
    """Return the composite in which an input without a value counts as nothing where others have one.

    ``attainable`` are the inputs of which the corpus gives worthless outputs a value. Weights are the
    composite's own; without a gap the composite is the stated one. It serves the claim alone: leaving an input without
    a value must not lift a run above floors that have it.
    """
    present = {part.metric for part in mixed.inputs}
    counted = present | set(attainable)
    weights = mixed.weighing.profiles["A" if STRUCTURAL_KEY in counted else mixed.profile]
    if mixed.value is None or counted & weights.keys() <= present:
        return mixed.value
    whole = sum(weight for id_, weight in weights.items() if id_ in counted)
    known = [part for part in mixed.inputs if part.metric in weights]
    reached = sum(weights[part.metric] * part.normalised for part in known)
    return min(mixed.value, reached / whole)


def composites(
    values: Mapping[str, FloatArray], profile: str, *, complete: bool = False, weighing: Weighing | None = None
) -> FloatArray:
    """Fold arrays of values, one composite per place; NaN means no value there.

    For entries the weight of a missing value moves to the others. For bootstrap draws the caller passes
    the metrics of the point estimate and asks for ``complete``: a draw without one of them has no
    composite, so that all draws weigh the same inputs.
    """
    import numpy as np  # a list of runs reads composites, and does without

    weights = (weighing or specified()).profiles[profile]
    used = [id_ for id_ in weights if id_ in values]
    if not used:
        length = len(next(iter(values.values()))) if values else 0
        return np.full(length, np.nan)
    scaled = np.stack([normalised(id_, values[id_]) for id_ in used])
    weight = np.array([weights[id_] for id_ in used])[:, None] * ~np.isnan(scaled)
    covered = weight.sum(axis=0)
    total = (weight * np.nan_to_num(scaled)).sum(axis=0)
    enough = np.isfinite(scaled).all(axis=0) if complete else covered > 0
    return np.where(enough, total / np.where(covered > 0, covered, 1.0), np.nan)


def profile_note(profile: str, *, calibrated: bool = False) -> str:
    """Return which reading of §4.3 the weights of a profile follow, where it contradicts itself; else empty.

    Its introduction gives structural metrics 50 %. Its table gives them 0.25 + 0.15, its rationale and
    benchmark-specification §4.2 say 40 %, and with 50 % the weights would not sum to 1.
    """
    if profile != "A" or calibrated:
        return ""
    metrics = specification().metrics
    weights = specification().profiles[profile]
    share = sum(weight for id_, weight in weights.items() if metrics[id_].category == "structural")
    return f"structural metrics weigh {percent(share)}, by the table of §4.3; its introduction says 50 %"


def composite_metrics() -> frozenset[str]:
    """Return the ids of all metrics that enter a composite of either profile."""
    return frozenset().union(*specification().profiles.values())


def profile_for(values: Mapping[str, object]) -> str:
    """Choose profile A where the FST metric has a value, B otherwise."""
    return "A" if _number(values.get(STRUCTURAL_KEY)) is not None else "B"


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        return None
    return float(value)


def normalised(id_: str, values: Values) -> Values:
    """Normalise a composite metric's values to 0–1 with 1 as perfect (§4.2)."""
    match specification().metrics[id_].normalization:
        case "percent":
            return values / 100.0
        case "invert":
            return 1.0 - values
        case _:
            return values


def cost_adjusted(composite: float | None, cost_per_entry_usd: float | None) -> float | None:
    """Return composite / log2(1 + 1000 × cost per entry) (§6.3).

    None at cost 0, where the formula divides by zero and lists say "free", and at unknown cost
    (DESIGN M6).
    """
    if composite is None or cost_per_entry_usd is None or cost_per_entry_usd <= 0:
        return None
    divisor = log2(1 + cost_per_entry_usd * 1000)
    return composite / divisor if divisor else None
