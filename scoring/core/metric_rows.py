"""What the tables say of one metric: its row, its pack, and how it is called.

Tables of packs are read only for an id that names a pack: lists of translations start without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scoring.core.specification import COMPOSITE, InventoryRow, specification

if TYPE_CHECKING:
    from scoring.core.packs import Pack


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
    if not point:
        return None
    from scoring.core.packs import pack_named

    return pack_named(name)


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
