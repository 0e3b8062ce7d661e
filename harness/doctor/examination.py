"""What works on this computer, what is missing, and what to do: examined here, sent nowhere, changing nothing."""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from corpora.files.installed import installed
from corpora.files.problems import CardError
from corpora.languages.tags import SHIPPED, CardNames, list_cards, shipped_names
from corpora.text.messages import counted
from harness.annotators import ANNOTATORS
from harness.box.engines import NEEDS_LINUX, engines, limits_whole_box, shut_off
from harness.core.failures import KeyStoreError, UsageError
from harness.core.installation import always_needed, hfst_has_wheel, install_line, uninstall_line
from harness.core.version import VERSION
from harness.doctor import data as doctor_data
from harness.doctor.finding import Finding, Health
from harness.endpoint.endpoints import keyring_name, known_variables, stored_names
from harness.fst.model import BUILTIN, FstStatus, find_analyser, installed_engines
from harness.settings import read_settings
from scoring.core.packs import RAISED, PackTrouble, installed_packs
from scoring.words.word_lists import has_list

if TYPE_CHECKING:
    from corpora.languages.cards import FoundCard
    from harness.setup.language_check import AnalyserState

# ---- What makes boxes on this computer, in which methods of others are run ----

_AREA = "Methods of others"


def boxes() -> Iterator[Finding]:
    """Return which engine makes boxes here; of those that are missing, what to install, where no other is there."""
    missing = []
    for engine in engines():
        lacking = engine.lacking()
        if lacking is None:
            words = "makes boxes"
            if engine.name == "bubblewrap":
                whole = "the whole box" if limits_whole_box() else "each of its processes"
                models = "in a box too" if shut_off() else "outside of one, with the rights of root"
                words += f"; memory is limited for {whole}; the engine for local models runs {models}"
            yield Finding(_AREA, engine.name, Health.OK, words)
            return
        missing.append(Finding(_AREA, engine.name, Health.MISSING, f"{lacking}."))
    yield from missing
    if not missing:
        words = f"{NEEDS_LINUX}. What brings code is not run here, what brings data alone is."
        yield Finding(_AREA, "box", Health.MISSING, words)


# ---- The program itself, what can be installed next to it, and the keyring ----

_PYTHONS = ((3, 11), (3, 14))
"""First that works, and first that does not."""
KEYRING_SECONDS = 10.0
"""A keyring that asks its person for a password is waited for no longer."""


def program() -> Iterator[Finding]:
    """Check Python, this program and what it needs."""
    known = _PYTHONS[0] <= sys.version_info < _PYTHONS[1]
    words = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    if known:
        yield Finding("Program", "Python", Health.OK, words)
    else:
        words += ": Rosetta needs 3.11, 3.12 or 3.13. Make its environment again with one"
        yield Finding("Program", "Python", Health.BROKEN, words, ("python3.13 -m venv .venv",))
    folder = Path(__file__).parents[2]
    yield Finding("Program", "Rosetta", Health.OK, f"{VERSION} in {folder}")
    yield _packages()


def _packages() -> Finding:
    names = always_needed()
    if names is None:
        words = "it runs from its source, so nothing says what it needs. To install it:"
        folder = Path(__file__).parents[2]
        mend = (install_line(str(folder)),) if (folder / "pyproject.toml").exists() else ()
        return Finding("Program", "packages", Health.UNKNOWN, words, mend)
    gone = [name for name in names if installed(name) is None]
    if gone:
        words = f"not installed: {', '.join(gone)}. Install what is missing:"
        return Finding("Program", "packages", Health.BROKEN, words, (install_line(*gone),))
    words = f"all {len(names)} that it needs are installed"
    return Finding("Program", "packages", Health.OK, words)


def extra_packages() -> dict[str, tuple[str, str]]:
    """Return what only some people need: extra → its package, and what it is for."""
    return {
        "words": ("wordfreq", "word lists, by which words left untranslated are known"),
        "hfst": ("hfst", "compiles analysers, and compares the built-in reader with its own"),
        **{id_: (row.package, row.use) for id_, row in ANNOTATORS.items() if row.package},
        "meteor": ("nltk", "METEOR, with the stems of English"),
        "parquet": ("pyarrow", "rows of a run in typed columns (rosetta runs export)"),
        "postgres": ("psycopg", "run cards in a PostgreSQL database (rosetta publish)"),
        "cluster": ("distributed", "a sweep's calls on other computers, by Dask"),
        "fonts": ("fonttools", "cuts fonts that a review brings along for letters that reviewers lack"),
        "desktop": ("PySide6_Essentials", "the window in which speakers rate"),
    }


def extras() -> Iterator[Finding]:
    """Check what only some people need, the engines for analysers, and word lists."""
    for extra, (package, use) in extra_packages().items():
        version = installed(package)
        if version is not None:
            yield Finding("Extras", extra, Health.OK, f"{package} {version}: {use}")
        elif extra == "hfst" and not hfst_has_wheel():
            words = f"{use}. There is no wheel of it for this Python and system"
            yield Finding("Extras", extra, Health.MISSING, words)
        else:
            words = f"not installed: {use}. Install it beside the program:"
            yield Finding("Extras", extra, Health.MISSING, words, (install_line(package),))
    (ours, number), *others = installed_engines().items()
    besides = ", ".join(f"{name} {engine_version}" for name, engine_version in others)
    words = f"{ours} {number} reads analysers"
    words += f"; to compare it with: {besides}" if besides else ""
    yield Finding("Extras", "FST engines", Health.OK, words)
    if installed("wordfreq") is None:
        return
    try:
        having = [path.stem for path in list_cards() if has_list(path.stem)]
        yield Finding("Extras", "word lists", Health.OK, f"for sources in {', '.join(having)}")
    except ValueError as error:
        mend = (f"{install_line('wordfreq')} --force-reinstall",)
        yield Finding("Extras", "word lists", Health.BROKEN, f"{error}.", mend)


def pack_findings() -> Iterator[Finding]:
    packs, troubles = installed_packs()
    if packs:
        from scoring.metrics.inventory import why_no_pack  # loads what scores
    for pack in packs.values():
        why = why_no_pack(pack.name)
        if why is None:
            words = f"{pack.version}, {counted(len(pack.rows), 'metric')}, from {pack.package}"
            yield Finding("Metric packs", pack.name, Health.OK, words)
        else:
            yield _pack_trouble(PackTrouble(pack.name, pack.package, why))
    yield from map(_pack_trouble, troubles)


def _pack_trouble(trouble: PackTrouble) -> Finding:
    words = f"from {trouble.package}: {trouble.why} To do without it:"
    package = trouble.package.rpartition(" ")[0]
    return Finding("Metric packs", trouble.name, Health.BROKEN, words, (uninstall_line(package),))


# Keys


def keys() -> Iterator[Finding]:
    """Check whether the keyring answers, and which services have a key; no key is read out."""
    variables = known_variables().items()
    here = [name for name, variable in variables if os.environ.get(variable, "").strip()]
    # Names of stored keys, or say why the keyring does not tell them.
    answers: list[list[str] | str] = []

    def ask() -> None:
        try:
            answers.append(stored_names())
        except KeyStoreError as error:
            answers.append(str(error).partition(" Put the key")[0])

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(KEYRING_SECONDS)
    answer = answers[0] if answers else "The keyring does not answer; it may wait for its password."
    if isinstance(answer, str):
        words = f"{answer} Keys in environment variables work without it."
        # Line that makes a key known to this shell, where no keyring can keep it.
        mend = (f"{'set' if os.name == 'nt' else 'export'} OPENROUTER_API_KEY=…",)
        yield Finding("Keys", "keyring", Health.MISSING, words, mend)
        stored: list[str] = []
    else:
        stored, mend = answer, ("rosetta key set openrouter",)
        yield Finding("Keys", "keyring", Health.OK, f"{keyring_name()} answers")
    parts = [f"in variables: {', '.join(here)}"] if here else []
    parts += [f"in the keyring: {', '.join(stored)}"] if stored else []
    if parts:
        yield Finding("Keys", "services", Health.OK, "; ".join(parts))
    else:
        words = "no service has a key. Models on this computer need none; for another:"
        yield Finding("Keys", "services", Health.MISSING, words, mend)


def languages(home: Path) -> Iterator[Finding]:
    """Return what works for languages of the store, those with a card or an analyser of the user, and the rest."""
    try:
        own = read_settings(home).language_folders
    except UsageError:
        own = ()  # told among the settings
    folders = (home / "languages", *own)
    stored = _rows(home / "rosetta.sqlite", "SELECT DISTINCT json_extract(dataset, '$.target_language') FROM corpora")
    used = {str(tag).replace("_", "-").split("-")[0].lower() for (tag,) in stored if tag}
    quiet: list[str] = []
    known: set[str] = set()
    for path in list_cards(folders):
        if path.parent == SHIPPED:  # what ships was read by its tests
            card = shipped_names(path)
            analyser, tags = find_analyser(card, card.tag, folders), {card.tag, *card.aliases}
            if analyser is None and not used & tags:
                quiet.append(card.tag)
            elif analyser is None or analyser.is_relative_to(SHIPPED):
                yield _as_shipped(card, analyser)
            else:
                yield from _own_language(path, folders, used)
            known |= tags
        else:
            tags = yield from _own_language(path, folders, used)
            known |= tags
    for tag in sorted(used - known):
        words = "has no language card: surface metrics work. For the rest:"
        mend = (f"rosetta language check {tag}",)
        yield Finding("Languages", tag, Health.MISSING, words, mend)
    if quiet:
        words = f"have a card and no analyser: {', '.join(quiet)}. What works for one, and what to copy:"
        name = f"{len(quiet)} others"
        yield Finding("Languages", name, Health.OK, words, ("rosetta language check TAG",))


_NO_ANALYSER: Final = "no analyser; what works without one, and what to copy:"


def _as_shipped(card: CardNames, analyser: Path | None) -> Finding:
    """Return a finding on a language of which everything is as it ships, for which no file is opened."""
    name, mend = f"{card.tag} {card.name}", (f"rosetta language check {card.tag}",)
    if analyser is None:
        return Finding("Languages", name, Health.MISSING, _NO_ANALYSER, mend)
    words = f"{analyser.name} by {BUILTIN}, as it ships. Which metrics work:"
    return Finding("Languages", name, Health.OK, words, mend)


def _own_language(path: Path, folders: Sequence[Path], used: set[str]) -> Generator[Finding, None, set[str]]:
    """Yield a finding on a card or an analyser of the user; gives all tags of the language."""
    from harness.setup.language_check import read_card_and_analyser  # loads what checks cards and reads analysers

    try:
        card, analyser = read_card_and_analyser(path, folders)
    except CardError as error:
        yield Finding("Languages", path.stem, Health.BROKEN, str(error.problems[0]))
        return set()
    except Exception as error:  # noqa: BLE001  one card hides no other
        why = type(error).__name__
        words = f"cannot be read ({why}). Move {path.name} away, and report this."
        yield Finding("Languages", path.stem, Health.BROKEN, words)
        return set()
    yield _language(card, analyser, used)
    return set(card.card.tags)


def _language(found: FoundCard, analyser: AnalyserState, used: set[str]) -> Finding:
    name, mend = f"{found.card.tag} {found.card.name}", (f"rosetta language check {found.card.tag}",)
    if analyser.path is not None and not analyser.usable:
        broken = analyser.status is not FstStatus.OK
        health = Health.BROKEN if broken else Health.MISSING
        return Finding("Languages", name, health, f"{analyser.message}. What works without it:", mend)
    whose = "" if found.shipped else "your card; "
    if analyser.path is None:
        health = Health.MISSING if used & set(found.card.tags) else Health.OK
        return Finding("Languages", name, health, f"{whose}{_NO_ANALYSER}", mend)
    reads = f"{analyser.path.name} by {analyser.engine}"
    return Finding("Languages", name, Health.OK, f"{whose}{reads}. Which metrics work:", mend)


def packs(store: Path) -> Iterator[Finding]:
    """Check the packs that installed packages bring, and runs in which their code failed."""
    yield from pack_findings()
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


def _rows(store: Path, query: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query; none where the store cannot be read, which is reported among the data."""
    if not store.exists():
        return []
    try:
        place = f"{store.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(place, uri=True)) as connection:
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
        ("Program", program),
        ("Extras", extras),
        ("Metric packs", partial(packs, home / "rosetta.sqlite")),
        ("Methods of others", boxes),
        ("Keys", keys),
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
