"""Cards of other layouts, read as ours (DESIGN C1)."""

from harness.card.model import RunCard


def adopt(raw):
    return RunCard.model_validate(raw)
