"""Vaults for the custodian's screens: one that two of four keepers open together, with requests and told scores."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from corpora.model.entry import Segment
from harness.card.withholding import ReleasedScore
from harness.release import FOLDER
from harness.release.ledger import ReleaseLedger
from harness.release.ledger_records import InLedger, ReleasedCard, ReleasedCorpus, ReleasedMethod, ScoresTold
from harness.sealed.keys import Identity, Role
from harness.vault.grants.grants import Grants
from harness.vault.keepers import keeper_of
from harness.vault.vault import Vault
from harness.vault.vault_records import RunTerms
from rosetta_tui.commands import rosetta
from rosetta_tui.vault.facts import VaultReading
from tests.harness.vault.made import corpus, ticking

NAMES = ("Office", "School", "Library", "recovery key")
PEOPLE = {name: Identity.make(Role.KEEPER) for name in NAMES}
OFFICE = PEOPLE["Office"]
MACHINE = Identity.make(Role.COMPUTER)
NOW = datetime(2026, 2, 3, 12, 0, tzinfo=UTC)
STEADY = r"(computer whose six words are: |its words:? +).*"
RUN = RunTerms(method="copy-source", options="ab" * 32, scorer="0.1.0")


def vault_of(home: Path, folder: Path, start: datetime) -> Vault:
    """A vault as the computer has it whose data folder is ``home``."""
    return Vault(folder, home / "vaults", ticking(start))


def filled(home: Path, folder: Path, *, threshold: int = 1, names: Sequence[str] = NAMES, title: str = "Words of the elders") -> Vault:  # fmt: skip
    """Make a vault with one corpus, whose last keeper is the recovery key."""
    made = vault_of(home, folder, datetime(2026, 1, 2, 3, 4, tzinfo=UTC))
    people = zip(PEOPLE.values(), names, strict=True)
    keepers = [keeper_of(key, name, recovery=name == names[-1]) for key, name in people]
    made.found(title, keepers, OFFICE, threshold)
    made.add(corpus(), "greetings", OFFICE)
    return made


def asked_for(home: Path, folder: Path) -> None:
    """Make a vault that two of four open together, with a request that is allowed, one that waits and one that is over."""
    filled(home, folder, threshold=2)
    grants = Grants(vault_of(home, folder, datetime(2026, 1, 10, 9, 0, tzinfo=UTC)), MACHINE)
    grants.ask("greetings", "a look after the move", 1, OFFICE)
    grants = Grants(vault_of(home, folder, datetime(2026, 2, 1, 9, 0, tzinfo=UTC)), MACHINE)
    data = grants.ask("greetings", "the spring run", 14, OFFICE, run=RUN)
    for name in ("Office", "School"):
        grants.take(grants.answer(data, PEOPLE[name], allowed=True), OFFICE)
    data = grants.ask("greetings", "a second look", 14, OFFICE, [Segment.GOLD_STANDARD])
    refused = grants.answer(data, PEOPLE["Library"], allowed=False, reason="ask me in May")
    grants.take(refused, OFFICE)


def told_to(home: Path, *submitters: str) -> None:
    """Write into the ledger of a data folder that scores were told, an hour before ``NOW``."""
    identity = Identity.make(Role.KEEPER)
    (home / "keeper.key").write_text(identity.text())
    when = datetime(2026, 2, 3, 11, 0, tzinfo=UTC)
    book = ReleaseLedger(home / FOLDER, identity, lambda: when)
    for number, name in enumerate(submitters):
        with book.changing() as change:
            run = f"0f3b8c1e-6c1d-4a70-9a52-{number:012}"
            change.write(score_told(change.place, name, run))


def taken(typed: Sequence[str]) -> str | None:
    """Return the name of the command that takes these words; whatever it refuses raises."""
    name, *words = typed
    assert name == "rosetta"
    command: click.Command = rosetta
    context = click.Context(rosetta)
    while isinstance(command, click.Group):
        found = command.get_command(context, words.pop(0))
        assert found is not None, typed
        command = found
    command.make_context(command.name, words)
    return command.name


METHOD = ReleasedMethod(method="glossary", method_class="raw_llm", method_version="1", model_slug="m", condition="c", setup_hash="d" * 64)  # fmt: skip
CORPUS = ReleasedCorpus(id="greetings", version=None, language_pair="EN→EO", entries=40)


def score_told(place: InLedger, submitter: str, run: str, **more: Any) -> ScoresTold:
    """Tell a submitter the scores of a run; ``more`` of the card."""
    made: dict[str, Any] = {
        "run": run, "run_card_hash": "c" * 64, "scores_of": run, "submitter": submitter, "method": METHOD,
        "corpus": CORPUS, "headline": "chrf_plus_plus", "beat_by": 2.0, "smallest_difference": 7.8,
        "scores": {"chrf_plus_plus": ReleasedScore(value=44.0, lower=40.0, upper=48.0, step=2.0)},
        "signatures": {}, "answer": 1, "of": 10, "rosetta": "0.1.0",
        "issued": "2026-02-03", "place": place, "by": "e" * 64,
        "policy": "official", "bits": 21, "quality_tier": "", "claimable_tier": "baseline",
    }  # fmt: skip
    card = ReleasedCard(**(made | more))
    return ScoresTold(entries="f" * 64, atoms=None, value=44.3, card=card)


def steady(found: VaultReading) -> VaultReading:
    """Return a reading in which all that is drawn by chance is always the same, for pictures."""
    facts = found.facts
    if facts is None:
        return replace(found, folder=Path(found.folder.name))
    return replace(
        found,
        folder=Path(found.folder.name),
        facts=replace(
            facts,
            state=replace(facts.state, head=facts.state.head.model_copy(update={"vault": "5f" * 32})),
            log=[
                replace(each, id="7a" * 32, words=re.sub(r"\b[0-9a-f]{8}\b", "1a2b3c4d", each.words))
                for each in facts.log
            ],
            phrases=dict.fromkeys(facts.phrases, "apricot within garter soda bleach cookie"),
            requests={
                key: [re.sub(STEADY, r"\1apricot within garter soda bleach cookie", re.sub(r"(version:? +)\w+", r"\g<1>5f5f5f5f5f5f5f5f", line)) for line in lines]
                for key, lines in facts.requests.items()
            },
        ),
    )  # fmt: skip
