"""An organisation's computer with a run over gold_standard whose gate was passed, and a developer's beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from corpora.model.entry import Segment
from harness.sealed.keys import Identity, Role
from review.office.store.store import Office
from tests.review.verdict.certified import fluent_run
from tests.tui.commands.command_line import ok
from tests.tui.review.gated import filled, issued, reviewed


@dataclass(frozen=True)
class TwoSides:
    """Data folders of both, and the folder in which files go from one to the other."""

    organisation: Path
    developer: Path
    stick: Path
    run_id: str
    card: str
    certificate: Path
    """The coarse one, as it left."""

    def key(self, role: Role = Role.COMPUTER, home: Path | None = None) -> str:
        """Return the public key of a computer; the developer's where none is named."""
        return Identity.load(home or self.developer, role).public.signing_key

    @property
    def organisation_key(self) -> str:
        return self.key(Role.ORGANISATION, self.organisation)

    def proposed(self, name: str = "r", more: str = "") -> Path:
        """Propose a record on the organisation's computer."""
        path = self.stick / f"{name}.rosetta-ownership"
        who = f"--developer Ann --key {self.key()}"
        line = f"community propose {self.run_id} {who} -o {path} {more}"
        ok(line, self.organisation)
        return path

    def signed(self, name: str = "r") -> Path:
        """Propose a record and have both sign it; both computers know."""
        path = self.proposed(name)
        ok(f"community answer {path} --sign", self.developer)
        ok(f"community answer {path} --sign", self.organisation)
        ok(f"community take {path}", self.developer)
        return path


def two_sides(folder: Path, patch: pytest.MonkeyPatch) -> TwoSides:
    """Make both computers; the environment of the caller is the organisation's from then on."""
    organisation, developer, stick = folder / "organisation", folder / "developer", folder / "stick"
    stick.mkdir()
    patch.setenv("ROSETTA_HOME", str(organisation))
    patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    card = fluent_run(organisation / "rosetta.sqlite", folder, segment=Segment.GOLD_STANDARD)
    with Office.open(organisation) as office:
        made = card["dataset"]
        corpus = {"dataset_id": made["id"], "language_pair": made["language_pair"]}
        filled(office, organisation, reviewed(card, segments="gold_standard", **corpus))
    certificate = issued(folder)
    ok(f"review attach {certificate}")
    return TwoSides(organisation, developer, stick, card["run_id"], card["run_card_hash"], certificate)
