"""The request to a vault for a run, before anything that opens it is loaded."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Protocol

from corpora.model.entry import Segment
from harness.core.failures import UsageError


class ShareTyping(Protocol):
    """Where keepers type the words of printed shares, one share after the other."""

    def words(self) -> str:
        """Prompt for the words of one share, which are not shown."""

    def say(self, words: str) -> None:
        """Show whose share was typed, or what is wrong with it."""


class VaultNoting(Protocol):
    """Who opens a vault, as far as more is written into its log (``harness.vault.opening.VaultOpening``)."""

    def note_model(self, run: str, endpoint: str, model: str, calls: int | None = None) -> None:
        """Write that the method of a run may ask a model, before its first question, or with ``calls`` how often it did."""

    def note_withdrawal(self, corpus: str, said_by: str, reason: str) -> None:
        """Write that consent for a corpus was withdrawn, by its number."""

    def end_sweep(self) -> None:
        """Destroy what continues a sweep by its grant."""


def _heed_nothing(_opening: VaultNoting) -> None:
    """Ignore the opening: anyone who only opens texts writes no more into the log."""


def _tell_nobody(_lines: Sequence[str]) -> None:
    """Show nothing: of a script, which says itself what it opens."""


@dataclass(frozen=True, slots=True)
class VaultRequest:
    """Out of which vault a corpus is opened, what for, and with whose keys."""

    folder: Path
    purpose: str
    """In a person's words; the log of the vault keeps it for ever."""
    segments: tuple[Segment, ...] = ()
    """Only entries of these are opened; without any, all but ``held_out``."""
    work: str = "run"
    """One of ``harness.vault.request.VaultWork``."""
    run_id: str = ""
    """Of the run that it is opened for, where that is known."""
    clock_was_wrong: bool = False
    """True where the keeper says that the clock of the log's last line was."""
    despite_network: str = ""
    """Why a run continues though this computer has a way to other machines, in a custodian's words; empty: it does not."""
    others: tuple[Path, ...] = ()
    """Files of the keys of keepers who are here, such as the recovery key; none: those of this computer's keeper."""
    typed: ShareTyping | None = None
    """Where keepers type the words of their printed shares."""
    request: Path | None = None
    """Where keepers who are elsewhere are asked in a file, and their answers lie; None: in this folder, named by the work."""
    wait: Callable[[Path], None] | None = None
    """Is called with the file of the request while answers are missing, and returns when they are to be looked for again; None: nobody elsewhere is asked."""
    tell: Callable[[Sequence[str]], None] = _tell_nobody
    """Shows, line by line, what keepers allow once or are asked for, and who answered."""
    opened: Callable[[VaultNoting], None] = _heed_nothing
    """Is handed who opens a corpus, before it is opened: for anyone who has more to write into the log afterwards."""

    @classmethod
    def read(
        cls,
        told: Mapping[str, Any],
        work: str = "run",
        typed: ShareTyping | None = None,
        tell: Callable[[Sequence[str]], None] = _tell_nobody,
        wait: Callable[[Path], None] | None = None,
    ) -> VaultRequest | None:
        """Read the options of a command line about a vault, by name; None where no vault is named.

        ``typed`` is where printed shares are typed; ``tell`` and ``wait``: as the fields.
        UsageError where the purpose is missing, or an option is there without a vault.
        """
        if told.get("vault") is None:
            if stray := next((name for name in OF_VAULT if told.get(name)), None):
                raise UsageError(f"{_flag(stray)} goes with --vault FOLDER.")
            return None
        others = tuple(told.get("others") or ())
        if not (told["purpose"] or "").strip():
            words = "--vault asks for --purpose WORDS: its log keeps what it was opened for."
            raise UsageError(words)
        return cls(
            folder=told["vault"],
            purpose=told["purpose"] or "",
            segments=tuple(Segment(name) for name in told.get("segment", ())),
            work=work,
            run_id=str(uuid.uuid4()) if work in ("run", "score") else "",
            clock_was_wrong=told["clock_was_wrong"],
            despite_network=told.get("despite_network") or "",
            others=tuple(path for path in others if path != PAPER),
            typed=typed if PAPER in others else None,
            request=told.get("request"),
            wait=wait,
            tell=tell,
        )


OF_VAULT = ("purpose", "clock_was_wrong", "despite_network", "others")
"""Options of a command line that go with ``--vault``."""
REQUEST_SUFFIX: Final = ".rosetta-request"
PAPER: Final = Path("paper")
"""Among the files of keys: the words of printed shares are typed."""


def _flag(name: str) -> str:
    return "--with" if name == "others" else f"--{name.replace('_', '-')}"


# ---- What texts of a vault are opened for, and which work needs a grant ----


class VaultWork(StrEnum):
    """What the program opened texts for."""

    RUN = "run"
    SCORE = "score"
    SWEEP = "sweep"
    """All runs of a plan, by one grant."""
    ESTIMATE = "estimate"
    RESUME = "resume"
    RETRY = "retry"
    RESCORE = "rescore"
    CALIBRATE = "calibrate"
    """Scores beside people's ratings."""
    SEAL = "seal"
    """The signature over the rows of a run's card."""
    COMPARE = "compare"
    """How a run differs from another one, worked out inside and told in steps."""
    LOOK = "look"
    """The texts of a run, read on the screens of the program."""
    REVIEW = "review"
    """Sentences and outputs of a run, sealed for the laptops of speakers who judge them."""
    ADJUDICATE = "adjudicate"
    """What speakers flagged, or differ about, read by who decides."""
    CHECK = "check"
    """Checks and counts of a corpus."""
    SCRIPT = "script"
    """The package ``rosetta``, in a notebook or a script."""
    EXPORT = "export"
    """All that belongs to a community, written out in open files."""


GRANTED: Final = frozenset(VaultWork) - {VaultWork.ESTIMATE, VaultWork.CHECK, VaultWork.EXPORT}
"""Work for which texts are opened by a grant only: whatever runs over them, and what opens a run's texts again."""
