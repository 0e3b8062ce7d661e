"""One vault, section by section: what it holds, who opens it, what was done, who asked, what was released."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType

from harness.release.budget import MOMENT
from harness.sealed.strict_records import FileProblem
from harness.vault.grants.files import REQUEST_SUFFIX
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import in_thread, telling
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.dialogs.path import PathScreen
from rosetta_tui.toolkit.section_screen import SectionScreen, section_keys
from rosetta_tui.vault.answer_screen import AnswerScreen
from rosetta_tui.vault.answers import AskedRequest, asked_in_file, asked_in_log
from rosetta_tui.vault.budgets import budgets
from rosetta_tui.vault.check_up import check_up, check_up_page
from rosetta_tui.vault.contents import contents, log
from rosetta_tui.vault.facts import VaultReading, read_in_full
from rosetta_tui.vault.keepers import keepers
from rosetta_tui.vault.requests import requests
from scoring.core.messages import counted

REQUESTS = "Requests"
SECTIONS = ("Contents", "Keepers", "Log", REQUESTS, "Budgets", "Check-up")

TROUBLES = {
    FileProblem.NOT_OURS: "No vault is here now.",
    FileProblem.DAMAGED: "This vault is not as its keepers left it. Nothing of it is shown.",
}
UNREADABLE = "This vault cannot be read."
AGAIN = "r  checks it again; it is also examined when one of its files changes"


def _utc_now() -> datetime:
    return datetime.now(UTC)


class VaultScreen(SectionScreen[VaultReading]):
    """Reads and checks the vault in a thread; no key is needed, and no text is opened."""

    TITLE = "Vault"
    sections = SECTIONS
    CSS_PATH = "vault.tcss"
    HELP = (
        "Everything stands here without a key, and no secret text is opened for it. Every file, line and signature of the "
        "vault is checked each time it is read; it is read again when a file of it changes.\n"
        "Among the requests, a answers the one under the cursor, and f one in a file, such as from a stick. What else changes a vault "
        "is done with commands: c has each of them, with the names filled in. Words in CAPITAL LETTERS are yours to fill in.\n"
        "development and diagnostic are sentences that makers of methods may have seen, gold_standard is the secret test, and held_out is "
        "kept for later and never opened. Times are UTC, as the log has them."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *section_keys("vault", SECTIONS),
        Binding("c", "commands", "What to do", tooltip="Copy the command that does it", id="vault.commands"),
        Binding("a", "answer", "Answer", tooltip="Allow or refuse this request", id="vault.answer"),
        Binding("f", "answer_file", "From a file", tooltip="Answer a request in a file, such as on a stick", id="vault.answer_file"),
        Binding("r", "read", "Check again", id="refresh"),
        Binding("question_mark", "app.keys", "Help", key_display="?", id="help"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]  # fmt: skip

    def __init__(
        self, store_path: Path, folder: Path, clock: Callable[[], datetime] = _utc_now
    ) -> None:
        super().__init__()
        self._home = store_path.parent
        self._folder = folder
        self.title = plain(folder.name) or self.TITLE
        self._clock = clock

    # Reading

    def read(self, before: VaultReading | None, *, anyway: bool) -> VaultReading:
        """Read and check the whole vault, where a file of it changed or ``anyway``."""
        return read_in_full(self._folder, self._home, before, anyway=anyway)

    def show_found(self, found: VaultReading) -> None:
        """Show its sections, or why it cannot be shown."""
        facts = found.facts
        self.title = plain(found.name) or self.TITLE
        if facts is None:
            title = UNREADABLE if found.problem is None else TROUBLES.get(found.problem, UNREADABLE)
            self.show_trouble(title, found.trouble, (str(found.folder), AGAIN))
            return
        now, folder = self._clock(), str(found.folder)
        made = (
            contents(facts, folder), keepers(facts, folder), log(facts, folder),
            requests(facts, folder, now.strftime(MOMENT)), budgets(found.told, now),
            check_up_page(check_up(facts, found.told, folder, now)),
        )  # fmt: skip
        lines = counted(len(facts.log), "log line")
        whole = show(f"✓ whole and unchanged · {lines}", "$good")
        older = show(f"! an older copy · {lines}", "$bad")
        self.show_pages(
            dict(zip(SECTIONS, made, strict=True)), older if facts.older_copy else whole
        )

    # Answering

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Omit what cannot be answered."""
        if action == "answer":
            return bool(self._answerable)
        if action == "answer_file":
            return self.opened == REQUESTS and self.page is not None
        return super().check_action(action, parameters)

    @property
    def _answerable(self) -> str:
        """Number of the request under the cursor, where it can be answered."""
        page = self.page
        at = self.table.cursor if page and page.rows else 0
        return page.answerable[at] if page and page.answerable else ""

    def action_answer(self) -> None:
        self._look_at(partial(asked_in_log, self._folder, self._home, self._answerable))

    def action_answer_file(self) -> None:
        def chosen(path: Path | None) -> None:
            if path is not None:
                self._look_at(partial(asked_in_file, self._folder, self._home, path))

        hint = "It came on a stick, for example. It is only examined; you answer after that."
        self.app.push_screen(PathScreen("Open a request", hint, "path of NAME.rosetta-request", (REQUEST_SUFFIX,)), chosen)  # fmt: skip

    def _look_at(self, read: Callable[[], AskedRequest]) -> None:
        in_thread(self, "request", read, self._show_request, telling(self, "Request"), asks=True)

    def _show_request(self, asked: AskedRequest) -> None:
        def answered(words: str | None) -> None:
            if words is not None:
                self.notify(plain(words), markup=False)
                self.action_read()

        self.app.push_screen(AnswerScreen(asked), answered)
