"""``rosetta corpus translate``: Hand sentences of a corpus in the making to speakers, who translate them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rosetta_tui.commands.corpus.speakers import ask_speakers, asking_speakers


@click.command("translate")
@asking_speakers
def translate_(project: Path, *, as_json: bool, dry_run: bool, **given: Any) -> None:
    """Make a batch of the sentences in FOLDER that still need a translation; speakers write them in the window or terminal.

    Sentences of gold_standard and held_out go out sealed, for laptops you know (--for) or with --passphrases, and
    what speakers write comes back sealed. Bring the answers home with `rosetta review import STICK`, then: rosetta
    corpus gather FOLDER
    """
    ask_speakers(project, "translate", given, as_json=as_json, dry_run=dry_run)
