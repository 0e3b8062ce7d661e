"""What every command that scores shares: the options that name where metrics find what they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from harness.setup.scoring_options import ScoringOptions

Command = TypeVar("Command", bound=Callable[..., Any])

_FILE = click.Path(path_type=Path)


def scoring_options(command: Command) -> Command:
    """Add the options that say what outputs are scored with."""
    for add in (
        click.option("--comet", type=_FILE, help="Checkpoint of COMET, or a file of its scores."),
        click.option("--embeddings-model", metavar="NAME", help="Model asked for at the endpoint."),
        click.option("--embeddings", metavar="WHERE", help="Endpoint or folder of embeddings."),
        click.option("--gloss-dictionary", type=_FILE, help="Target lemmas with their meanings."),
        click.option("--terms", type=_FILE, help="Prescribed terms. Default: the coaching's."),
        click.option("--analyser", type=_FILE, help="Morphological analyser (.hfstol)."),
        click.option("--language-card", type=_FILE, help="Your own card of the target language."),
        click.option(
            "--multi-ref/--one-ref",
            default=None,
            help="Score chrF++, BLEU, TER against the variants too. Default: the reference alone.",
        ),
        click.option(
            "--metrics",
            metavar="NAME,NAME…",
            help="Such as chrf,bleu,exact. Default: rosetta, all that can be computed.",
        ),
    ):
        command = add(command)
    return command


def read_scoring_options(given: Mapping[str, Any]) -> ScoringOptions:
    """Read these options; paths become independent of the folder in which resume will be called."""
    from harness.api import scoring_of

    return scoring_of({name: value for name, value in given.items() if value is not None})
