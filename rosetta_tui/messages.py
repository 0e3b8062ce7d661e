"""What screens tell the app. Each is past tense: it says what a person did."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


@dataclass
class RunChosen(Message):
    """A run of the list is to be opened."""

    run_id: str
    complete: bool
    """True where the run has a sealed card and nothing will happen to it any more."""


class DemoAsked(Message):
    """The bundled demo is to be run."""


class Left(Message):
    """The person wants to go back from the screen that says so."""
