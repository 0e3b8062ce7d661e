"""Computers of keepers who share a folder, for tests that type commands about a vault."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import Entry, Segment
from harness.sealed.keys import Identity, Role
from harness.vault.grant_log import Grant
from harness.vault.keepers import keeper_of
from harness.vault.opening import vault_at
from harness.vault.vault import Vault
from tests.harness.vault.made import CANARY, corpus
from tests.tui.commands.command_line import typed

HOMES = ("office", "school", "library")
SCHEMAS = Path(__file__).parents[3] / "docs" / "schemas"
SEGMENTS = ("gold_standard", "gold_standard", "held_out")


METHOD = """
import os, signal
from pathlib import Path
from harness.core.failures import ErrorClass
from harness.method.method import MethodClass, Output, Setup

HERE = Path(__file__).parent

class Backwards:
    endpoint = None
    def __init__(self, options):
        self.setup = Setup(method="backwards", method_class=MethodClass.CUSTOM_PLUGIN,
                           method_version="1", model_slug="backwards", condition="baseline")

    async def translate(self, entries, calls):
        return [self.one(entry.source) for entry in entries]

    def one(self, source):
        if source.endswith("4") and not (HERE / "killed").exists():
            (HERE / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if source.endswith("1") and not (HERE / "retried").exists():
            raise ValueError(f"cannot translate {source}")
        return Output(f"{source} said back", raw=f"raw {source}")
"""
RUN = ("--segment", "gold_standard", "--metrics", "chrf")
DESPITE = ("--despite-network", "made-up sentences")
"""The machine of the tests may have a way out."""
RUN_SEGMENTS = (*[Segment.GOLD_STANDARD] * 5, Segment.HELD_OUT, *[Segment.DEVELOPMENT] * 2)


def numbered() -> Corpus:
    """Eight entries, one of them held_out; ids are not texts, and stand in the store."""
    entries = [
        Entry(
            id=n,
            source=f"{CANARY} source {n}",
            reference=f"{CANARY} reference {n}",
            variants=(f"{CANARY} variant {n}",),
            notes=f"{CANARY} note",
            register_=f"{CANARY} register",
            segment=segment,
        )
        for n, segment in enumerate(RUN_SEGMENTS)
    ]
    envelope = {"language_pair": "EN→EO", "source_language": "en", "target_language": "eo"}
    dataset = Dataset(id="words", told_by=f"{CANARY} person", **envelope)
    return Corpus(dataset, tuple(entries), "ab" * 32, Form.JSONL)


class Office:
    """Computers that share a folder, each with a data folder of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch
        rows = [f"{n}\t{CANARY} {n}\t{CANARY} r{n}\t{s}" for n, s in enumerate(SEGMENTS)]
        rows.insert(0, "id\tsource\treference\tsegment")
        (folder / "words.tsv").write_text("\n".join(rows) + "\n")
        monkeypatch.chdir(folder)

    def __call__(self, line: str, *more: str, at: str = "office") -> str:
        """Run a command; gives what it printed, or the words of its failure."""
        self.monkeypatch.setenv("ROSETTA_HOME", str(self.folder / at))
        said = typed("vault", *line.split(), *more)
        assert CANARY not in said
        return said


def faults(name: str, shown: object) -> list[str]:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    return [each.message for each in Draft202012Validator(schema).iter_errors(shown)]


class Homes:
    """Computers that never share a network: a data folder each, and a stick that goes from one to the next."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, sealed: Corpus | None = None, threshold: int = 2
    ) -> None:
        self.folder, self.stick, self.monkeypatch = folder, folder / "stick", monkeypatch
        self.stick.mkdir()
        identities = [Identity.make(Role.KEEPER) for _ in HOMES]
        for name, each in zip(HOMES, identities, strict=True):
            (folder / name).mkdir()
            (folder / name / "keeper.key").write_text(each.text())
        names = ("Office", "School", "Library")
        keepers = [keeper_of(each, name) for each, name in zip(identities, names, strict=True)]
        vault = Vault(folder / "office" / "elders", folder / "office" / "vaults", lambda: datetime.now(UTC))
        vault.found("Words of the elders", keepers, identities[0], threshold)
        vault.add(sealed or corpus(), "greetings", identities[0])

    def __call__(self, home: str, line: str, *more: str) -> str:
        """Run a command about vaults at one home, the stick in its place; gives all that it printed."""
        return self.types(home, f"vault {line}", *more)

    def types(self, home: str, line: str, *more: str, there: Path | None = None) -> str:
        """Run any command there, in its folder or another one; gives all that it printed, where no secret text is."""
        self.monkeypatch.setenv("ROSETTA_HOME", str(self.folder / home))
        self.monkeypatch.chdir(there or self.folder / home)
        said = typed(*line.format(stick=self.stick).split(), *more, text="y\n")
        assert CANARY not in said
        return said


def asked(homes: Homes, command: str, *what: str, purpose: str = "spring") -> str:
    """Ask at the office for what a command does, on the stick, and have School allow it; return the options of the command that goes on."""
    given = f"--vault {homes.folder / 'office' / 'elders'} --purpose {purpose}"
    before = {*homes.stick.rglob("*.rosetta-request")}
    said = homes.types("office", f"{command} {given}", *what, there=homes.stick)
    assert "Waiting for the keepers" in said, said
    [request] = {*homes.stick.rglob("*.rosetta-request")} - before
    allowed(homes, request)
    return given


def allowed(homes: Homes, request: Path, home: str = "school") -> None:
    """Have a keeper allow a request with a copy of the vault on the stick; the answer lies next to it."""
    homes("office", "export elders {stick}/elders --purpose", "for the keepers")
    said = homes(home, f"grant answer {{stick}}/elders {request} --yes")
    assert "it cannot be used again" in said, said


def grants(homes: Homes) -> list[Grant]:
    vault = vault_at(homes.folder / "office" / "elders", homes.folder / "office")
    return [*vault.read().grants.values()]
