"""Handing in and taking back: the sealed file on a stick, its six words, and what may be withdrawn."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from harness.core.failures import HarnessError
from review.files.batch import Batch
from review.log.payloads import Scope
from review.session.words import page as page_words
from review.session.words.catalogue import Words
from review.session.words.item import Answer
from review.session.words.keys import KEYS, Act, NextAction, act_of, scope_label, scope_of
from review.session.words.troubles import trouble
from rosetta_tui.review.rating.pages.page import Choices, Hint, Page, RatingKeyLine, TroubleLine, paragraph, told, typed
from rosetta_tui.review.rating.sitting import TerminalSitting
from rosetta_tui.toolkit.content import show


class HandOverPage(Page[NextAction]):
    """Writes to the chosen stick or a typed folder; gives UNSAVED where the person looks at drafts first."""

    AUTO_FOCUS = "OptionList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "look", show=False),
        Binding("f", "folder", show=False),
        Binding("r", "look", show=False),
        Binding(KEYS[Act.UNSAVED][0], "unsaved", show=False),
    ]

    def __init__(self, sitting: TerminalSitting, batch: Batch) -> None:
        super().__init__(sitting.words, sitting.words(page_words.HAND_OVER))
        self._sitting = sitting
        self._opening = sitting.flow.opening
        self._batch = batch
        self._sticks: tuple[Path, ...] = ()  # the places to choose from, sticks first
        self._are_sticks: tuple[bool, ...] = ()
        self._typing = False  # true once a folder is being typed
        self._done = False
        self._busy = False

    def body(self) -> ComposeResult:
        view = self._sitting.view
        yield paragraph(page_words.how_far(self.words, view))
        if unsaved := page_words.unsaved(self.words, view):
            yield paragraph(unsaved, "$warn")
        yield Static(classes="asked")
        yield OptionList()
        yield Input(max_length=1000, classes="wide", select_on_focus=False)

    def on_mount(self) -> None:
        self.query_one(Input).display = False
        self.action_look()

    def hints(self) -> Sequence[Hint]:
        words = self.words
        if self._done:
            return [Hint(words("Enter"), words("continue"), "leave")]
        if self._typing:  # letters are for the folder
            return [Hint(words("Enter"), words("save here"), "save_typed"), Hint(words("Esc"), words("back"), "leave")]
        first = words("save here") if self._sticks else words("look again")
        again = [Hint("r", words("look again"), "look")] if self._sticks else []
        way = self.words("what is not saved")
        to_unsaved = [Hint(KEYS[Act.UNSAVED][0], way, "unsaved")] if self._sitting.view.unsaved else []
        return [
            Hint(words("Enter"), first, "save_here"),
            *again,
            *to_unsaved,
            Hint("f", words("another folder"), "folder"),
            Hint(words("Esc"), words("back"), "leave"),
        ]

    def action_unsaved(self) -> None:
        if self._sitting.view.unsaved and not self._busy and not self._done:
            self.dismiss(NextAction.UNSAVED)

    def action_look(self) -> None:
        """Find sticks; after handing in, go back."""
        if self._done:
            self.dismiss(None)
        elif not self._busy:
            self.run_worker(self._look(), exclusive=True, group="sticks")

    async def _look(self) -> None:
        await self._find()
        if self._sticks and self._are_sticks[0]:
            self.query_one(OptionList).focus()
            self._tell(self.words("Where is your stick? Enter saves your answers there."))
        elif self._sticks:
            self.query_one(OptionList).focus()
            self._tell(
                self.words("No stick was found. Put it into this computer, then press r. Enter saves in the folder.")
            )
        else:
            self.query_one(".body").focus()
            self._tell(self.words("No stick was found. Put it into this computer, then press Enter."))

    async def _find(self) -> None:
        self._sticks, self._are_sticks = await self._sitting.do(self._look_for_places)
        places = self.query_one(OptionList)
        places.clear_options()
        for place, is_stick in zip(self._sticks, self._are_sticks, strict=True):
            name = page_words.place_to_save(self.words, place, on_stick=is_stick)
            places.add_option(Option(show(name.replace("\n", "   "))))
        places.display = bool(self._sticks)
        if self._sticks:
            places.highlighted = 0

    def _look_for_places(self) -> tuple[tuple[Path, ...], tuple[bool, ...]]:
        """Return the places, and of each whether it is a stick; those that are come first."""
        places = tuple(self._opening.hand_over_places(self._batch))
        return places, tuple(map(self._opening.on_stick, places))

    def _tell(self, words: str) -> None:
        self.query_one(".asked", Static).update(told(words))
        self.query_one(RatingKeyLine).offer(self.hints())

    def action_save_here(self) -> None:
        places = self.query_one(OptionList)
        if self._sticks and places.highlighted is not None:
            self._save(self._sticks[places.highlighted])
        else:
            self.action_look()

    @on(OptionList.OptionSelected)
    def _chosen(self) -> None:
        self.action_save_here()

    def action_folder(self) -> None:
        box = self.query_one(Input)
        box.display = True
        box.value = box.value or str(Path.home())
        self._typing = True
        self._type_on(box)
        self._tell(self.words("Type the folder, then press Enter."))

    def _type_on(self, box: Input) -> None:
        box.focus()
        box.cursor_position = len(box.value)

    @on(Input.Submitted)
    def _typed(self, message: Input.Submitted) -> None:
        message.stop()
        self.action_save_typed()

    def action_save_typed(self) -> None:
        if folder := self.query_one(Input).value.strip():
            self._save(Path(folder).expanduser())

    def _save(self, folder: Path) -> None:
        if not self._busy and not self._done:
            self._busy = True
            self.query_one(TroubleLine).tell(self.words, "")
            self._tell(self.words(page_words.SAVING))
            self.run_worker(self._saved(folder), group="session")

    async def _saved(self, folder: Path) -> None:
        try:
            on_stick = await self._sitting.do(partial(self._opening.on_stick, folder))
            exported = await self._sitting.do(partial(self._sitting.session.export, folder))
        except HarnessError as error:
            # Show the places again, to choose or type another at once.
            await self._find()
            box = self.query_one(Input)
            if self._typing:
                self._type_on(box)
                self._tell(self.words("Nothing was written. Type another folder, then press Enter."))
            elif self._sticks:
                self.query_one(OptionList).focus()
                self._tell(self.words(page_words.NOT_WRITTEN))
            else:
                self.query_one(".body").focus()
                self._tell(self.words("Nothing was written. Put a stick in, then press Enter."))
            self.query_one(TroubleLine).tell(self.words, *trouble(self.words, error))
        else:
            self._done = True
            words = self.words
            body = self.query_one(".body")
            body.remove_children()
            body.mount(
                paragraph(page_words.saved(words, on_stick=on_stick), "bold $good"),
                paragraph(words(page_words.SIX_WORDS_OF_FILE)),
                Static(show(f"    {exported.phrase}", "bold $mark")),
                paragraph(words(page_words.WRITE_THEM_DOWN)),
                paragraph(show(str(exported.path), "$quiet")),
            )
            body.focus()
            self.query_one(RatingKeyLine).offer(self.hints())
        finally:
            self._busy = False


class WithdrawPage(Page[Scope]):
    """Gives how much is to be taken back, None for nothing."""

    def __init__(self, words: Words) -> None:
        super().__init__(words, words("Take back"))
        self._scope: Scope | None = None

    def body(self) -> ComposeResult:
        words = self.words
        back = page_words.take_back(words)
        yield from map(paragraph, (back.first, *back.rest))
        yield paragraph(words(page_words.WHAT_TO_TAKE_BACK), "bold")
        yield Choices(
            [Answer(str(number), scope_label(words, scope)) for number, scope in enumerate(Scope, 1)], id="scopes"
        )
        yield Static(id="sure")

    def on_mount(self) -> None:
        self.query_one(Choices).ask(None)

    def hints(self) -> Sequence[Hint]:
        back = Hint(self.words("Esc"), self.words("keep everything"), "leave")
        if self._scope is None:
            return [back]
        return [Hint(KEYS[Act.WITHDRAW][0], self.words("erase it"), "erase"), back]

    def on_key(self, event: events.Key) -> None:
        character = typed(event)
        if act_of(character) is Act.WITHDRAW:
            event.stop()
            self.action_erase()
        elif (scope := scope_of(character)) is not None:
            event.stop()
            self._choose(scope)

    @on(Choices.Picked)
    def _picked(self, message: Choices.Picked) -> None:
        self._choose(list(Scope)[message.number])

    def _choose(self, scope: Scope) -> None:
        self._scope = scope
        self.query_one(Choices).ask(None, [list(Scope).index(scope)])
        sure = self.words(
            "This cannot be undone. Press {key} to erase it, or Esc to keep everything.", key=KEYS[Act.WITHDRAW][0]
        )
        self.query_one("#sure", Static).update(told(sure, "bold $warn"))
        self.query_one(RatingKeyLine).offer(self.hints())

    def action_erase(self) -> None:
        if self._scope is not None:
            self.dismiss(self._scope)
