"""One vault, section by section: what it holds, who opens it, what was done, who asked, what was released."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input, Label, Static

from corpora.text.messages import counted, to_minute
from harness.release.budget import MOMENT
from harness.sealed.strict_records import FileProblem
from harness.vault.request import REQUEST_SUFFIX
from harness.vault.vault_records import MOST_WORDS
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import in_thread, telling
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.dialogs.choose import ActingScreen, PathScreen, confirm, typed_line
from rosetta_tui.toolkit.reading_screen import ListRow, ListScreen, SectionScreen, section_keys
from rosetta_tui.vault.facts import (
    AskedRequest,
    VaultReading,
    asked_in_file,
    asked_in_log,
    check_up,
    check_up_page,
    give_answer,
    read_in_full,
    read_vaults,
)
from rosetta_tui.vault.sections import budgets, contents, keepers, log, requests

# ---- Where a keeper allows or refuses a request: what it asks for, whose keys answer, and where
# the answer goes.


class AnswerScreen(ActingScreen[str]):
    """Gives what was done, in words; None where the person went back. Each answer is asked for a second time."""

    CSS_PATH = "vault.tcss"
    acting = "Answering …"

    def __init__(self, asked: AskedRequest) -> None:
        super().__init__()
        self._asked = asked

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog -wide", id="answering", can_focus=False):
            yield Static(Content.styled("Do you allow this, once?", "bold"))
            with VerticalScroll(id="asking"):
                yield Static(show(self._asked.asks))
                for name, words in self._asked.facts:
                    with Horizontal(classes="fact"):
                        yield Label(show(name))
                        yield Static(show(words))
            yield Static(id="said")
            yield from typed_line("Keys", "keys", "this computer's keeper, or name a file of keys")
            yield from typed_line("Reason", "reason", "why you refuse; the log keeps it, so name nobody", MOST_WORDS)
            if not self._asked.here:
                yield from typed_line("The answer goes to", "target", "NAME.rosetta-answer")
            with Horizontal(classes="answers"):
                yield Button("Allow", id="allow")
                yield Button("Refuse", id="refuse")
                yield Button("Back (esc)", id="back")

    def on_mount(self) -> None:
        if not self._asked.here:
            self.query_one("#target", Input).value = str(self._asked.proposal)
        self.query_one("#back").focus()

    def _typed(self, name: str) -> str:
        return self.query_one(f"#{name}", Input).value.strip()

    @on(Button.Pressed, "#allow")
    def _allow(self) -> None:
        if self._complete(allowed=True):
            until = f"{to_minute(self._asked.request.expires)} UTC"
            message = f"You allow it, once, until {until}. A refusal takes that back, as long as it was not used."
            self._ask(self._asked.asks, message, "Allow it", allowed=True)

    @on(Button.Pressed, "#refuse")
    def _refuse(self) -> None:
        if self._complete(allowed=False):
            message = "The log keeps your reason for ever. What you allowed before does not count any more."
            self._ask(f"You refuse it: {self._typed('reason')}", message, "Refuse it", allowed=False)

    def _complete(self, *, allowed: bool) -> bool:
        """Return whether nothing is missing; else say what, and go there."""
        missing = ""
        if not allowed and not self._typed("reason"):
            missing = "reason"
        elif not self._asked.here and not self._typed("target"):
            missing = "target"
        words = {"reason": "Say why you refuse.", "target": "Name the file for the answer."}
        self.say(words.get(missing, ""), "$bad")
        if missing:
            self.query_one(f"#{missing}").focus()
        return not missing

    def _ask(self, question: str, said: str, yes: str, *, allowed: bool) -> None:
        def answer() -> None:
            keys, target = self._typed("keys"), "" if self._asked.here else self._typed("target")
            work = partial(
                give_answer,
                self._asked,
                allowed=allowed,
                reason="" if allowed else self._typed("reason"),
                keys=Path(keys).expanduser() if keys else None,
                target=Path(target).expanduser(),
            )
            self.act(work)

        confirm(self.app, Content.assemble(show(question, "bold"), "\n\n", show(said)), yes, answer)


REQUESTS = "Requests"
SECTIONS = ("Contents", "Keepers", "Log", REQUESTS, "Budgets", "Check-up")

TROUBLES = {
    FileProblem.NOT_OURS: "No vault is here now.",
    FileProblem.DAMAGED: "This vault is not as its keepers left it. Nothing of it is shown.",
}
UNREADABLE = "This vault cannot be read."
AGAIN = "r  checks it again; it is also examined when one of its files changes"


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

    def __init__(self, store_path: Path, folder: Path, clock: Callable[[], datetime] | None = None) -> None:
        super().__init__()
        self._home = store_path.parent
        self._folder = folder
        self.title = plain(folder.name) or self.TITLE
        self._clock = clock or partial(datetime.now, UTC)

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
        self.show_pages(dict(zip(SECTIONS, made, strict=True)), older if facts.older_copy else whole)

    # Answering

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
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
        def answered(words: str | None) -> None:
            if words is not None:
                self.notify(plain(words), markup=False)
                self.action_read()

        def ask(asked: AskedRequest) -> None:
            self.app.push_screen(AnswerScreen(asked), answered)

        in_thread(self, "request", read, ask, telling(self, "Request"), asks=True)


# ---- The vaults that this computer saw, and the way to one that it did not see yet ----

COLUMNS = (
    Column("vault", "vault", 14, share=3),
    Column("state", "how it is", 9),
    Column("opens", "opens for", 10),
    Column("holds", "holds", 12, share=1, drop=1),
    Column("last", "last line (UTC)", 16, drop=3),
    Column("folder", "folder", 12, share=2, drop=4),
)


class VaultsScreen(ListScreen[Sequence[VaultReading], Path]):
    """Reads each vault in a thread and says whether it is whole; no key is needed."""

    TITLE = "Vaults"
    list_name = "vaults"
    columns = COLUMNS
    none_yet = "This computer knows no vault yet."
    CSS_PATH = "vault.tcss"
    HELP = (
        "A vault is a folder that holds secret texts, encrypted; only its keepers open them, and each opening is in "
        "its log.\n"
        "Here stand those that this computer saw before. One on a stick is there again when the stick is in its place."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open", "Open a folder", id="vaults.open"),
        Binding("r", "read", "Check again", id="refresh"),
        Binding("question_mark", "app.keys", "Help", key_display="?", id="help"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]

    def read(self, before: Sequence[VaultReading] | None, *, anyway: bool) -> Sequence[VaultReading]:
        """Read and check those of which a file changed or, with ``anyway``, every vault."""
        return read_vaults(self.home, before, anyway=anyway)

    def show_found(self, found: Sequence[VaultReading]) -> None:
        """Show the vaults, and how many of them cannot be shown."""
        rows = [ListRow(vault_reading.folder, _cells(vault_reading), _about(vault_reading)) for vault_reading in found]
        wrong = sum(vault_reading.facts is None for vault_reading in found)
        message = f" · {wrong} cannot be shown" if wrong else ""
        what_to_do = Content.assemble(
            "A vault is a folder that holds a community's secret texts, encrypted. You make one in a shell:\n\n",
            ('  rosetta vault init FOLDER --name "WORDS OF THE ELDERS" --as "YOUR NAME" --recovery STICK/recovery-key.txt\n\n', "bold"),
            ("One that another computer made, on a stick for example, is shown too:\n\n", "$quiet"),
            ("o", "bold $mark"),
            "  opens the folder of a vault",
        )  # fmt: skip
        self.show_list(rows, counted(len(rows), "vault"), what_to_do, message)

    # Opening

    def action_open(self) -> None:
        def chosen(folder: Path | None) -> None:
            if folder is not None:
                self.open_row(folder)

        self.app.push_screen(OpenVaultScreen(), chosen)

    def open_row(self, key: Path) -> None:
        """Show the vault in a folder."""
        self.app.push_screen(VaultScreen(self.store_path, key))


class OpenVaultScreen(PathScreen):
    """Gives the folder of a vault, None where the person went back."""

    def __init__(self) -> None:
        super().__init__(
            "Open the folder of a vault",
            "It is only examined: no key is needed, and no text is opened.",
            "path of the folder",
        )


def _cells(found: VaultReading) -> tuple[Cell, ...]:
    facts = found.facts
    folder = Cell(str(found.folder), "quiet")
    if facts is None:
        return (Cell(found.name), Cell("✗ wrong", "bad"), Cell(""), Cell(""), Cell(""), folder)
    state = facts.state
    entries = sum(sum(corpus.entries.values()) for corpus in state.head.corpora.values())
    held = f"{counted(entries, 'entry', 'entries')}, {counted(len(state.head.corpora), 'corpus', 'corpora')}"
    return (
        Cell(found.name),
        Cell("! older", "bad") if facts.taken_out else Cell("✓ whole", "good"),
        Cell(opens_for(state.threshold, len(state.keepers))),
        Cell(held if state.head.corpora else "nothing yet"),
        Cell(to_minute(facts.log[-1].when)),
        folder,
    )


def opens_for(threshold: int, count: int) -> str:
    """Return in a few words how many keepers open a vault."""
    return f"any {threshold} of {count}" if threshold > 1 else f"each of {count}"


def _about(found: VaultReading) -> Content:
    """Return in two lines what was done last with a vault, or why it cannot be shown."""
    facts = found.facts
    if facts is None:
        title = UNREADABLE if found.problem is None else TROUBLES.get(found.problem, UNREADABLE)
        return Content.assemble(show(title, "$bad"), "\n", show(found.trouble))
    last = facts.log[-1]
    lines_shown: Sequence[str] = facts.older_copy or [f"{to_minute(last.when)}  {last.by}: {last.words}"]
    style = "$bad" if facts.older_copy else ""
    return Content.assemble(show(lines_shown[0], style), "\n", show(str(found.folder), "$quiet"))
