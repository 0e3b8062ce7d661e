"""What works on this computer, what is missing, and what to do: examined here, sent nowhere, changing nothing.

Languages: which are in use here, and which metrics work for them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from corpora.files.problems import CardError
from corpora.languages.cards import FoundCard, list_cards, read_card
from harness.core.failures import UsageError
from harness.doctor import data as doctor_data
from harness.doctor import program as doctor_program
from harness.doctor.boxes import boxes
from harness.doctor.finding import Finding, Health
from harness.fst.find import find_analyser
from harness.fst.model import FstStatus
from harness.settings import read_settings
from harness.setup.language_check import LanguageCheck, Readiness, check_card
from scoring.core.messages import counted
from scoring.core.packs import RAISED


def languages(home: Path) -> Iterator[Finding]:
    """Return what works for languages of the store, those with a card or an analyser of the user, and the rest."""
    folders = _folders(home)
    used = _used(home / "rosetta.sqlite")
    quiet: list[str] = []
    known: set[str] = set()
    for path in list_cards(folders):
        try:
            card = read_card(path)
        except CardError as error:
            yield Finding("Languages", path.stem, Health.BROKEN, str(error.problems[0]))
            continue
        except Exception as error:  # noqa: BLE001  one card hides no other
            words = (
                f"cannot be read ({type(error).__name__}). Move {path.name} away, and report this."
            )
            yield Finding("Languages", path.stem, Health.BROKEN, words)
            continue
        tag, tags = card.card.tag, set(card.card.tags)
        known |= tags
        if card.shipped and not used & tags and find_analyser(card.card, tag, folders) is None:
            quiet.append(tag)
        else:
            yield _language(card, check_card(tag, card, folders), used)
    for tag in sorted(used - known):
        words = "has no language card: surface metrics work. For the rest:"
        mend = (f"rosetta language check {tag}",)
        yield Finding("Languages", tag, Health.MISSING, words, mend)
    if quiet:
        words = f"have a card and no analyser: {', '.join(quiet)}. What works for one, and what to copy:"
        name = f"{len(quiet)} others"
        yield Finding("Languages", name, Health.OK, words, ("rosetta language check TAG",))


def _folders(home: Path) -> Sequence[Path]:
    try:
        own = read_settings(home).language_folders
    except UsageError:
        own = ()  # told among the settings
    return (home / "languages", *own)


def _language(found: FoundCard, checked: LanguageCheck, used: set[str]) -> Finding:
    """Return which metrics work for one language."""
    name = f"{found.card.tag} {found.card.name}"
    states = [metric.readiness for metric in checked.metrics]
    off = [metric.title for metric in checked.metrics if metric.readiness is Readiness.OFF]
    counted = f"{len(states) - len(off)} of {len(states)} metrics work"
    counted += f", {states.count(Readiness.CORPUS)} of them where the corpus has what they need"
    mend = (f"rosetta language check {found.card.tag}",)
    analyser = checked.analyser
    if analyser.path is not None and not analyser.usable:
        broken = analyser.status is not FstStatus.OK
        health = Health.BROKEN if broken else Health.MISSING
        return Finding("Languages", name, health, f"{analyser.message}; {counted}.", mend)
    whose = "" if found.shipped else "your card; "
    if analyser.path is None:
        health = Health.MISSING if used & set(found.card.tags) else Health.OK
        return Finding("Languages", name, health, f"{whose}no analyser; {counted}.", mend)
    reads = f"{analyser.path.name} by {analyser.engine}"
    return Finding("Languages", name, Health.OK, f"{whose}{reads}; {counted}.", mend)


def packs(store: Path) -> Iterator[Finding]:
    """Check the packs that installed packages bring, and runs in which their code failed."""
    yield from doctor_program.packs()
    for metric, run_id, entries, _ in _rows(store, _FAILED):
        count = counted(entries, "entry", "entries")
        words = (
            f"the code of {metric} failed at {count} of run {str(run_id)[:8]}, which have no value of it. Tell its "
            "makers; the entries say with what it fails:"
        )
        mend = (f"rosetta runs show {str(run_id)[:8]}",)
        yield Finding("Metric packs", str(metric).partition(".")[0], Health.BROKEN, words, mend)


_FAILED = f"""
    SELECT substr(e.key, 1, length(e.key) - {len(RAISED)}), u.run_id, e.value, max(u.created)
    FROM (SELECT run_id, run_card, created FROM runs WHERE run_card IS NOT NULL AND imported IS NULL
          AND put_away IS NULL ORDER BY created DESC LIMIT 20) u, json_each(u.run_card, '$.scores') e
    WHERE e.key LIKE '%.%!{RAISED}' ESCAPE '!' GROUP BY 1
"""  # noqa: S608  one constant
"""The metrics whose code failed in the last runs of this store, with such a run and in how many entries."""


def _used(store: Path) -> set[str]:
    """Return the target languages of the corpora in the store; none where it cannot be read."""
    rows = _rows(store, "SELECT DISTINCT json_extract(dataset, '$.target_language') FROM corpora")
    return {str(tag).replace("_", "-").split("-")[0].lower() for (tag,) in rows if tag}


def _rows(store: Path, query: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query; none where the store cannot be read, which is reported among the data."""
    if not store.exists():
        return []
    try:
        with closing(
            sqlite3.connect(f"{store.absolute().as_uri()}?mode=ro", uri=True)
        ) as connection:
            return connection.execute(query).fetchall()
    except sqlite3.Error:
        return []


Check = Callable[[], Iterable[Finding]]


def examine(home: Path) -> Iterator[Finding]:
    """Check everything that has nothing to do with a screen; ``home`` is the data folder.

    What cannot be examined is a finding too, so that one broken thing hides no other. The keyring is asked
    whether it answers, which may open a dialog of the operating system.
    """
    for area, check in (
        ("Program", doctor_program.program),
        ("Extras", doctor_program.extras),
        ("Metric packs", partial(packs, home / "rosetta.sqlite")),
        ("Methods of others", boxes),
        ("Keys", doctor_program.keys),
        ("Data", partial(doctor_data.data, home)),
        ("Settings", partial(doctor_data.settings, home)),
        ("Languages", partial(languages, home)),
    ):
        yield from looked_at(area, check)


def looked_at(area: str, check: Check) -> Iterator[Finding]:
    """Yield what a check finds; a failure of the check itself ends it and is yielded."""
    try:
        yield from check()
    except Exception as error:  # noqa: BLE001  whatever is broken here is what a person asks about
        words = f"cannot be examined ({type(error).__name__})"
        yield Finding(area, area.lower(), Health.BROKEN, words)
