"""Packs: systems of metrics beside the scoring specification's own, each with a table of the same keys.

The id of a metric is the name of its pack, a point, and its name there: ``lbrag.f1``. Some packs come with the
program; an installed package offers another by an entry point of the group ``rosetta.metrics``, whose name is the
pack's and whose value is a module with ``METRICS`` and a ``pack.toml`` next to it.

Installed packages are examined only when a name is asked for that no table of the program has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from corpora.files.installed import offered
from corpora.files.toml_text import parse_toml
from scoring.core.specification import COMPOSITE, ROSETTA, InventoryRow, MetricInfo, table_row

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


SHIPPED = ("lbrag", "au", "nest")
"""Names of the packs that come with the program."""
GROUP = "rosetta.metrics"
"""Entry points of this group are packs."""
RAISED = "_raised"
"""Ends the name of a card's field that counts the entries at which the code of an installed pack's metric failed."""


class Pack(NamedTuple):
    """A system of metrics."""

    name: str
    version: str
    """Of what its values mean: it changes whenever a value could."""
    title: str
    document: str
    """What defines it: one of the seeds, or a paper."""
    tasks: tuple[str, ...]
    """Tasks of a dataset whose runs are scored with it where nobody says otherwise."""
    rows: Mapping[str, InventoryRow]
    """By metric id, in the order of the table."""
    needs: Mapping[str, str] = MappingProxyType({})
    """What its metrics may need beside what the specification's may, in words."""
    view: Mapping[str, Any] = MappingProxyType({})
    """How the system itself prints its values (``scoring.packs.views``)."""
    package: str = ""
    """The installed package that brings it, with its version; empty for one that comes with the program."""

    def for_task(self, task: str) -> tuple[str, ...]:
        """Return the metrics that are of use to a task: all, but those of other tasks."""
        return tuple(id_ for id_, row in self.rows.items() if not row.tasks or task in row.tasks)


class PackTrouble(NamedTuple):
    """An installed pack that cannot be used, and why."""

    name: str
    package: str
    why: str
    """A sentence that says what is wrong and what to do."""


@cache
def shipped_pack(name: str) -> Pack:
    """Read the table of a pack that comes with the program."""
    table = Path(__file__).parents[1] / "packs" / name / "pack.toml"
    return read_pack(name, table.read_text(encoding="utf-8"))


def read_pack(name: str, text: str, module: str | None = None, package: str = "") -> Pack:
    """Read the table of a pack; KeyError names a field that it lacks, ValueError a line.

    ``module`` has the metrics of the rows that name none.
    """
    data = parse_toml(text)
    pack_table = data["pack"]
    rows = (
        table_row(
            f"{name}.{metric}",
            {**({} if module is None or row["status"] == "absent" else {"module": module}), **row},
            pack_table["document"],
        )
        for metric, row in data.get("metrics", {}).items()
    )
    return Pack(
        name,
        version=pack_table["version"],
        title=pack_table["title"],
        document=pack_table["document"],
        tasks=tuple(pack_table["tasks"]),
        rows={row.info.id: row for row in rows},
        needs=data.get("needs", {}),
        view=data.get("view", {}),
        package=package,
    )


def pack_metric(id_: str) -> MetricInfo:
    """Return what the table of a pack fixes about a metric; KeyError where there is no such row."""
    pack = pack_named(id_.partition(".")[0])
    return (pack.rows if pack else {})[id_].info


def pack_named(name: str) -> Pack | None:
    """Return a pack by its name; None where there is none that can be used."""
    return shipped_pack(name) if name in SHIPPED else installed_packs()[0].get(name)


def shipped_packs() -> list[Pack]:
    """Return the packs that come with the program."""
    return [shipped_pack(name) for name in SHIPPED]


def every_pack() -> list[Pack]:
    """Return the packs that come with the program, then those of installed packages."""
    return [*shipped_packs(), *installed_packs()[0].values()]


@cache
def installed_packs() -> tuple[Mapping[str, Pack], tuple[PackTrouble, ...]]:
    """Return the packs of installed packages by name, and those that cannot be used; looked up once."""
    packs: dict[str, Pack] = {}
    troubles: list[PackTrouble] = []
    points = sorted(offered(GROUP), key=lambda point: (point.name, _package(point)))
    for point in points:
        same = (other for other in points if other.name == point.name and other is not point)
        try:
            packs[point.name] = _outside(point, [*map(_package, same)])
        except PackError as error:
            troubles.append(PackTrouble(point.name, _package(point), str(error)))
    return packs, tuple(troubles)


class PackError(Exception):
    """A pack cannot be used; says why, and what to do."""


_NAME = re.compile(r"[a-z][a-z0-9_]*")


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "a package without a name"


def _outside(point: EntryPoint, same: Sequence[str]) -> Pack:
    """Read the table of an installed pack; none of its metrics is imported.

    ``same`` are other packages with a pack of the name.
    """
    if same:
        raise PackError(f"{' and '.join(same)} has a pack of the same name, so neither is used. Uninstall one.")
    if not _NAME.fullmatch(point.name):
        raise PackError("its name must be of the letters a–z, digits and _, from a letter on.")
    if point.name in {*SHIPPED, ROSETTA, COMPOSITE}:
        raise PackError(
            f"the program's own {point.name} has the name already. Uninstall it, or ask its makers to rename it."
        )
    # Where the table of a module lies; a package above it is imported, which may do anything.
    try:
        spec = find_spec(point.module)
    except Exception as error:
        raise PackError(f"{point.module} cannot be found: {describe(error)}. {_MEND}") from error
    if spec is None or spec.origin is None:
        raise PackError(f"there is no module {point.module}. {_MEND}")
    table = Path(spec.origin).with_name("pack.toml")
    try:
        text = table.read_text(encoding="utf-8")
        checked_table(text)
    except (OSError, ValueError) as error:
        message = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        words = message.rstrip(".") or type(error).__name__
        raise PackError(f"{table.name} beside {point.module}: {words}. {_MEND}") from None
    return read_pack(point.name, text, point.module, _package(point))


_MEND = "Install another version of it, or tell its makers."


def describe(error: BaseException) -> str:
    """Return what code from outside raised."""
    message = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


_TEXT = "a text"
_TEXTS = "a list of texts"
_NUMBER = "a number"
_KINDS: Mapping[str, Callable[[Any], bool]] = {
    _TEXT: lambda value: isinstance(value, str),
    _TEXTS: lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    _NUMBER: lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "true or false": lambda value: isinstance(value, bool),
    "a whole number from 0 to 9": lambda value: type(value) is int and 0 <= value <= 9,
    "higher, lower or neither": lambda value: value in {"higher", "lower", "neither"},
    "both or corpus": lambda value: value in {"both", "corpus"},
    "implemented, partial or absent": lambda value: value in {"implemented", "partial", "absent"},
}
_PACK = {"version": _TEXT, "title": _TEXT, "document": _TEXT, "tasks": _TEXTS}
_ROW = {
    "title": _TEXT,
    "category": _TEXT,
    "section": _TEXT,
    "low": _NUMBER,
    "better": "higher, lower or neither",
    "level": "both or corpus",
    "what": _TEXT,
    "status": "implemented, partial or absent",
    "needs": _TEXTS,
    "library": _TEXT,
    "interval": "true or false",
}
_MAY = {
    **dict.fromkeys(("short", "module", "lacks", "excluded", "remark"), _TEXT),
    **dict.fromkeys(("also", "annotators", "given_by", "tasks"), _TEXTS),
    "high": _NUMBER,
    "digits": "a whole number from 0 to 9",
}


def checked_table(text: str) -> None:
    """Raise ValueError where a table from outside is none: it names the field and what belongs there."""
    data = parse_toml(text)
    _check(data.get("pack"), "pack", _PACK, {})
    metrics = data.get("metrics")
    if not isinstance(metrics, Mapping) or not metrics:
        raise ValueError("it has no [metrics.NAME]")
    for name, row in metrics.items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"metrics.{name[:40]}: the name must be of a–z, digits and _")
        _check(row, f"metrics.{name}", _ROW, _MAY)
    _only(data, {"pack", "metrics", "needs", "view"}, "table")
    _check(data.get("needs", {}), "needs", {}, dict.fromkeys(data.get("needs", {}), _TEXT))


def _check(found: object, where: str, must: Mapping[str, str], may: Mapping[str, str]) -> None:
    if not isinstance(found, Mapping):
        raise ValueError(f"it has no [{where}]")  # noqa: TRY004  it is the file that is wrong
    for name in must:
        if name not in found:
            raise ValueError(f"{where} has no {name!r}")
    _only(found, {*must, *may}, where)
    for name, value in found.items():
        kind = {**must, **may}[name]
        if not _KINDS[kind](value):
            raise ValueError(f"{where}.{name} must be {kind}")


def _only(found: Iterable[str], known: set[str], where: str) -> None:
    if stray := sorted(set(found) - known):
        raise ValueError(f"{where} has {stray[0][:40]!r}, which means nothing")
