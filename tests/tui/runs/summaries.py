"""Runs as lists show them."""

from __future__ import annotations

from dataclasses import replace

from harness.core.run_state import RunState
from harness.store.run_list import RunSummary


def run(number: int, **changes: object) -> RunSummary:
    made = RunSummary(
        run_id=f"{number:08d}-6c1d-4a70-9a52-0123456789ab", number=number, state=RunState.COMPLETE,
        created=1_700_000_000.0 + number, dataset_id="eo-demo-v1", language_pair="EN→EO",
        model_slug="qwen2.5-7b", condition="naive", method="chat", total=10, done=10, failed=0,
        card={"scores": {"composite": number / 10, "chrf_plus_plus": 50.0 - number}}, live=None, imported=False,
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]
