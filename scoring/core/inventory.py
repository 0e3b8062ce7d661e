"""Every metric that there is: those of the scoring specification and those of packs, and how they are called.

A metric is known by its id, its title, and its short name; in any case, and with or without spaces, hyphens and
underscores. A plus counts, for chrF+ is another metric than chrF++. What several have goes to the specification's,
then to the packs' that come with the program. Installed packages are examined only for a name that none of these has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from corpora.tasks.task import TRANSLATION
from corpora.text.near_names import near_names, one_of
from scoring.core.metric_rows import pack_of, row_of, short_title, title
from scoring.core.packs import SHIPPED, Pack, every_pack, installed_packs, pack_named, shipped_packs
from scoring.core.specification import COMPOSITE, ROSETTA, InventoryRow, specification

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
    names = dict.fromkeys(id_.partition(".")[0] for id_ in wanted if "." in id_)
    for name in sorted(names, key=lambda pack_name: (*_place(pack_name), pack_name)):
        pack = pack_named(name)
        ordered_ids += [id_ for id_ in (pack.rows if pack else ()) if id_ in wanted]
    return list(dict.fromkeys([*ordered_ids, *wanted]))


def _place(pack: str) -> tuple[int]:
    return (SHIPPED.index(pack) if pack in SHIPPED else len(SHIPPED),)


def by_category(metrics: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Group metrics by their categories, both in the order of the tables."""
    groups: dict[str, list[str]] = {}
    for metric in in_order(metrics):
        if row := row_of(metric):
            groups.setdefault(row.category, []).append(metric)
    return list(groups.items())


def told_of(metrics: Iterable[str], off: Iterable[str] = ()) -> list[str]:
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
        elif "." not in name and (pack := pack_named(name)) is not None:
            ids |= set(pack.rows if task is None else pack.for_task(task))
        else:
            ids.add(name)
    return frozenset(ids)


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


def why_as_stated(id_: str, versions: Mapping[str, str]) -> str | None:
    """Return why values of a pack's metric can only be repeated as stated; None where they can be computed.

    ``versions`` are those that the values were computed with, by pack; so is a metric's of no pack.
    """
    name, point, _ = id_.partition(".")
    if not point:
        return None
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
    if (
        not point
        or not name
        or pack_named(name)
        or near_names(name, [p.name for p in every_pack()])
    ):
        return ""
    trouble = next(
        (pack_trouble.why for pack_trouble in installed_packs()[1] if pack_trouble.name == name),
        None,
    )
    if trouble:
        return f"the pack {name!r} cannot be used: {trouble.rstrip('.')}"
    here = ", ".join([ROSETTA, *(pack.name for pack in every_pack())])
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
