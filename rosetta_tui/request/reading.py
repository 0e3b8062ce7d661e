"""What every command that reads a corpus shares: its arguments, the reading, the problems in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from corpora.text.messages import counted
from harness.core.failures import StoreError
from harness.method.option_table import CORPUS, ENTRIES
from rosetta_tui.request.click_options import adding
from rosetta_tui.request.vault import tell, vault_request
from rosetta_tui.show.text import plain

if TYPE_CHECKING:
    from corpora.files.json_types import JsonObject
    from corpora.files.problems import Problem
    from corpora.model.corpus import Corpus, Selection
    from harness.vault.request import VaultNoting
    from harness.vault.vault_records import RunTerms

MOST_LINES = 100
"""Lines of problems printed before the rest is only counted."""

MOST_ALIKE = 5
"""Problems printed that differ by line and entry alone; of the others, the lines are said."""

MOST_PLACES = 20

reading = adding(*CORPUS.names)
"""The arguments and options of a command that reads a corpus of one or two files."""
reading_options = adding(*CORPUS.names[2:])
"""The options that complete what a corpus file does not say itself."""
selecting = adding(*ENTRIES.names)
"""The options that choose entries of a corpus."""


_OF_FILE = [name for name in CORPUS.names if name not in {"file", "reference", "other_reference", "corpus_id"}]
"""Options about a file that have the name of their field in ``CorpusRequest``."""


def read_corpus(
    given: dict[str, Any],
    reference: Path | None,
    store: Path | None = None,
    *,
    work: str = "check",
    terms: RunTerms | None = None,
    in_form: bool = False,
    opened: Callable[[VaultNoting], None] | None = None,
    kept_here: bool = False,
) -> Corpus:
    """Read the corpus that the options name: a file, or one of the store or of a vault; raises CorpusError, UsageError.

    ``store``: its path; None: that of the data folder. ``work``: what a vault's log says that it was opened for.
    ``terms``: what is about to be run over it; ``opened`` is handed who opens it. ``in_form``: nothing is printed of what keepers allow, and none elsewhere is asked.
    ``kept_here``: no message quotes anything of an entry.
    """
    from harness.api import CorpusRequest, open_corpus
    from harness.store.corpora.listing import names_stored

    others = tuple(given.get("other_reference") or ())
    if others and reference is None and not names_stored(str(given["file"])):
        raise click.UsageError("--other-reference comes after a first file of references. Give that too.")
    vault = vault_request(given, work, (lambda _: None) if in_form else tell, asks=not in_form)
    if vault is not None and opened is not None:
        vault = replace(vault, opened=opened)
    asked = CorpusRequest(
        file=given["file"],
        references=() if reference is None else (reference, *others),
        id=given["corpus_id"],
        **{name: given.get(name) for name in _OF_FILE},
        vault=vault,
        terms=terms,
        kept_here=kept_here,
    )
    return open_corpus(asked, store)


def load_corpus(
    given: dict[str, Any], reference: Path | None, *, work: str = "run", terms: RunTerms | None = None
) -> Corpus:
    """Read the corpus as ``read_corpus`` does; its warnings are said on standard error before its first run only."""
    corpus = read_corpus(given, reference, work=work, terms=terms)
    if corpus.warnings and _known(corpus):
        many = counted(len(corpus.warnings), "warning")
        click.echo(
            f"{many} about this corpus came before its first run; `rosetta corpus check` shows them all.", err=True
        )
    else:
        print_problems(corpus.warnings)
    return corpus


def _known(corpus: Corpus) -> bool:
    """Return whether the store has the corpus, so that its warnings were said already."""
    from harness.store.corpora.entries import find_corpus
    from harness.store.sqlite.database import default_path, opened

    if not default_path().exists():
        return False
    try:
        with opened() as connection:
            return find_corpus(connection, corpus) is not None
    except StoreError:
        return False


def selection(given: Mapping[str, Any]) -> Selection:
    """Read the options that choose entries."""
    from corpora.model import corpus, entry

    ids = given["entries"] or ""
    return corpus.Selection(
        segments=tuple(entry.Segment(name) for name in given["segment"]),
        difficulties=given["difficulty"],
        entry_ids=tuple(part.strip() for part in ids.split(",") if part.strip()),
        limit=given["limit"],
        sample=given["sample"],
        seed=given["seed"] or 0,
    )


def problem_json(problem: Problem) -> JsonObject:
    """Return a problem as JSON values; the places serve screens, which have the entries available."""
    return {name: value for name, value in problem._asdict().items() if name != "places"}


def print_problems(problems: Sequence[Problem]) -> None:
    """Show what is wrong with a file, on standard error; of many that differ by their line alone, the first and where the others are."""
    lines = list(_problem_lines(problems))
    for line in lines[:MOST_LINES]:
        click.echo(plain(line), err=True)
    if len(lines) > MOST_LINES:
        rest = len(lines) - MOST_LINES
        click.echo(f"… and {rest} more; `rosetta corpus check --json` lists all.", err=True)


def _problem_lines(problems: Sequence[Problem]) -> Iterator[str]:
    alike: dict[Problem, list[Problem]] = {}
    counts: Counter[Problem] = Counter()
    kinds = [problem._replace(line=None, entry=None, places=()) for problem in problems]
    for kind, problem in zip(kinds, problems, strict=True):
        alike.setdefault(kind, []).append(problem)
    for kind, problem in zip(kinds, problems, strict=True):
        counts[kind] += 1
        rest = alike[kind][MOST_ALIKE:]
        if counts[kind] <= MOST_ALIKE or len(rest) == 1:
            yield str(problem)
        elif counts[kind] == MOST_ALIKE + 1:
            yield f"… and the same {_where(rest)}"


def _where(problems: Sequence[Problem]) -> str:
    """Return where problems are that are all of one kind, by their lines, or by their entries where the lines tell nothing."""
    lines = {problem.line for problem in problems}
    name = "line" if len(lines) > 1 and None not in lines else "entry"  # JSON may stand on one line
    places = [line for line in (getattr(problem, name) for problem in problems) if line is not None]
    more = len(problems) - len(places[:MOST_PLACES])
    if not places:
        return f"{more:,} times more; `rosetta corpus check --json` lists all."
    listed = ", ".join(map(str, places[:MOST_PLACES]))
    named = {"line": "on lines", "entry": "in the entries"}[name]
    return f"{named} {listed}{f' and {more:,} more' if more else ''}."
