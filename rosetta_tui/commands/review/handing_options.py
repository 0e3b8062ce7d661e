"""The options of every command that hands a batch out: what goes along, who can open it, where the files go."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

_FILE = click.Path(path_type=Path)
_OPTIONS = (
    click.option(
        "--font",
        "fonts",
        multiple=True,
        type=_FILE,
        metavar="FILE.ttf",
        help="Goes along, for letters that reviewers' windows lack.",
    ),
    click.option(
        "--font-licence",
        "licences",
        multiple=True,
        type=_FILE,
        metavar="OFL.txt",
        help="Of the font; it must be the Open Font License.",
    ),
    click.option(
        "--recipient",
        "recipients",
        multiple=True,
        metavar="age1…|FILE",
        help="Who else can open the ratings.",
    ),
    click.option(
        "--for",
        "laptops",
        multiple=True,
        type=_FILE,
        metavar="LAPTOP-FILE",
        help="Seal the batch for this laptop alone; as often as there are laptops.",
    ),
    click.option(
        "--passphrases", is_flag=True, help="One file each, opened by words on the card."
    ),
    click.option(
        "-o", "--output", "folder", type=_FILE, default=Path(), help="Folder for the files."
    ),
    click.option(
        "--cards",
        type=_FILE,
        help="File for the cards. Default: review-cards/ in your data folder.",
    ),
)  # fmt: skip


def handed_out(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command the options of handing out, in the order in which its help lists them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
