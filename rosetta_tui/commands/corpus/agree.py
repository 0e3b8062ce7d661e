"""``rosetta corpus agree``: Hand translations to a second speaker, who agrees or writes a better one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rosetta_tui.commands.corpus.speakers import ask_speakers, asking_speakers


@click.command("agree")
@asking_speakers
@click.option(
    "--shared-laptop",
    is_flag=True,
    help="Speakers share a laptop: include translations that were written on it. You know that another person looks at them, and the corpus says so.",
)
def agree_(project: Path, *, as_json: bool, dry_run: bool, **given: Any) -> None:
    """Make a batch of the translations in FOLDER that no second speaker has examined; give it to somebody who did not write them.

    Acceptable and excellent count as agreement. A better wording replaces the translation, or is kept beside one that
    is excellent. A sentence that is rated reject or gist, without a better wording, goes back to translators. Secret
    sentences go out and come back sealed.

    Nobody agrees with themselves: a laptop (--for) gets what was not written on it, and what comes back from the
    laptop of a translation does not count, unless you say --shared-laptop.
    """
    ask_speakers(project, "agree", given, as_json=as_json, dry_run=dry_run)
