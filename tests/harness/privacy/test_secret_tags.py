"""Nothing of a secret entry leaves by the side doors: free tags, breakdowns, refusals."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from corpora.model.entry import Entry
from harness.card.checking.verify import verify_card
from harness.card.exporting import ExportForm, export_run
from harness.core.calls import Calls
from harness.core.failures import UsageError
from harness.method.method import MethodClass, Output, Setup
from harness.store.file.database import open_store
from harness.store.runs import find_run
from tests.harness.evaluation import corpus, kept, run_corpus
from tests.harness.run.constant_runs import constant

FREE = {"context": "kept in the lodge", "register": "of the elders", "provenance": "told by N. N."}
LISTED = {"context": "greeting", "register": "formal", "provenance": "elicited"}


def exported(path: Path, form: ExportForm) -> bytes:
    with closing(open_store(path)) as connection:
        return export_run(connection, find_run(connection, "last").id, form)


@pytest.mark.parametrize("form", ExportForm)
def test_free_tags_of_secret_entries_are_withheld_everywhere(
    store_path: Path, form: ExportForm
) -> None:
    run_corpus(store_path, corpus(12, segment="held_out", **FREE), constant())
    if form is not ExportForm.CARD:
        with pytest.raises(UsageError, match="no row of it leaves"):
            exported(store_path, form)
        return
    written = exported(store_path, form)
    assert not any(tag.encode() in written for tag in FREE.values())
    assert verify_card(written).ok


@pytest.mark.parametrize(("segment", "tags"), [("held_out", LISTED), ("development", FREE)])
def test_listed_tags_and_those_of_public_entries_are_told(
    store_path: Path, segment: str, tags: dict[str, str]
) -> None:
    run_corpus(store_path, corpus(6, segment=segment, **tags), constant())
    for form in ExportForm if segment == "development" else [ExportForm.CARD]:
        written = exported(store_path, form)
        assert all(tag.encode() in written for tag in tags.values())


class Reaching:
    """A method that tries to reach another machine without saying so."""

    endpoint = None
    setup = Setup(
        method="reaching",
        method_class=MethodClass.CUSTOM_PLUGIN,
        method_version="1",
        model_slug="reaching",
        condition="plug-in",
    )

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> list[Output]:
        socket.getaddrinfo("elsewhere.example", 80)
        return [Output("x") for _ in entries]


def test_a_refusal_for_secret_entries_blames_no_switch_that_nobody_set(store_path: Path) -> None:
    heard = run_corpus(
        store_path, corpus(2, segment="gold_standard"), constant(), method=Reaching()
    )
    said = f"{heard.finished.reason} {[result.error for result in kept(store_path).results]}"
    assert "--offline" not in said
    assert "Secret entries were opened, and nothing may leave this machine" in said
