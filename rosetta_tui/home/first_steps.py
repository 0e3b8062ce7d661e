"""From nothing to a scored run: ways to begin, each a key and a button."""

from __future__ import annotations

from collections.abc import Mapping

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

STEPS: Mapping[str, tuple[str, str]] = {
    "demo": (
        "Run the demo",
        "Watch a small Esperanto corpus being translated and scored. Under a minute; no key, no network.",
    ),
    "app.place('new_run')": (
        "New run from your corpus",
        "Choose sentences with their translations, and a method. You see what it would cost first.",
    ),
    "app.place('projects')": (
        "A corpus for a new language",
        "From an empty folder: sentences, speakers who translate them, and a community that agrees.",
    ),
    "app.place('doctor')": (
        "What is missing on this computer",
        "Which models, keys and languages are there, and what to do about those that are not.",
    ),
}
"""Action → what its button says, and what happens then, in words of a newcomer."""


class FirstSteps(VerticalScroll, can_focus=False):
    """Is instead of an empty list of runs."""

    def compose(self) -> ComposeResult:
        yield Static(
            Content.assemble(
                ("Is a machine translation good enough?\n", "bold"),
                (
                    "Rosetta translates a corpus, scores every sentence and says how sure that is.",
                    "$quiet",
                ),
            ),
            classes="welcome",
        )
        for number, (title, about) in enumerate(STEPS.values()):
            yield Button(Content(title), id=f"step-{number}")
            yield Static(Content.styled(about, "$quiet"), classes="step")

    def name_keys(self, keys: Mapping[str, str]) -> None:
        """Write on each button the key that does the same; ``keys`` gives it by action."""
        for number, (action, (title, _)) in enumerate(STEPS.items()):
            key = keys.get(action, "")
            self.query_one(f"#step-{number}", Button).label = Content.assemble(
                (f"{key}  " if key else "", "bold $mark"), title
            )

    def begin(self) -> None:
        """Focus the first way."""
        self.query_one("#step-0").focus()

    async def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        number = int((event.button.id or "step-0").removeprefix("step-"))
        await self.app.run_action(list(STEPS)[number], self.screen)
