"""The program itself, what can be installed next to it, and the keyring."""

from __future__ import annotations

import os
import platform
import sys
import threading
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path

from corpora.languages.cards import list_cards
from harness.core.failures import KeyStoreError
from harness.core.installation import always_needed, install_line, installed, uninstall_line
from harness.core.version import VERSION
from harness.doctor.finding import Finding, Health
from harness.endpoint.keys import known_variables, stored_names
from harness.fst.analyser import installed_engines
from harness.setup.annotator_table import ANNOTATORS
from harness.setup.language_check import hfst_has_wheel
from scoring.core.messages import counted
from scoring.core.packs import PackTrouble, installed_packs
from scoring.metrics.inventory import why_no_pack
from scoring.words.source_words import has_list

_PYTHONS = ((3, 11), (3, 14))
"""First that works, and first that does not."""
KEYRING_SECONDS = 10.0
"""A keyring that asks its person for a password is waited for no longer."""


def program() -> Iterator[Finding]:
    """Check Python, this program and what it needs."""
    known = _PYTHONS[0] <= sys.version_info < _PYTHONS[1]
    yield Finding(
        "Program",
        "Python",
        Health.OK if known else Health.BROKEN,
        f"{platform.python_version()} on {platform.system()} {platform.machine()}"
        + (
            ""
            if known
            else ": Rosetta needs 3.11, 3.12 or 3.13. Make its environment again with one"
        ),
        () if known else ("python3.13 -m venv .venv",),
    )
    folder = Path(__file__).parents[2]
    yield Finding("Program", "Rosetta", Health.OK, f"{VERSION} in {folder}")
    yield _packages()


def _packages() -> Finding:
    """Return whether every package that this program needs is installed."""
    try:
        names = always_needed()
    except PackageNotFoundError:
        words = "it runs from its source, so nothing says what it needs. To install it:"
        folder = Path(__file__).parents[2]
        mend = (install_line(str(folder)),) if (folder / "pyproject.toml").exists() else ()
        return Finding("Program", "packages", Health.UNKNOWN, words, mend)
    gone = [name for name in names if installed(name) is None]
    if gone:
        words = f"not installed: {', '.join(gone)}. Install what is missing:"
        return Finding("Program", "packages", Health.BROKEN, words, (install_line(*gone),))
    return Finding(
        "Program", "packages", Health.OK, f"all {len(names)} that it needs are installed"
    )


def extra_packages() -> dict[str, tuple[str, str]]:
    """Return what only some people need: extra → its package, and what it is for."""
    return {
        "words": ("wordfreq", "word lists, by which words left untranslated are known"),
        "hfst": ("hfst", "compiles analysers, and compares the built-in reader with its own"),
        **{id_: (row.package, row.use) for id_, row in ANNOTATORS.items() if row.package},
        "meteor": ("nltk", "METEOR, with the stems of English"),
        "postgres": ("psycopg", "run cards in a PostgreSQL database (rosetta publish)"),
        "cluster": ("distributed", "a sweep's calls on other computers, by Dask"),
        "fonts": (
            "fonttools",
            "cuts fonts that a review brings along for letters that reviewers lack",
        ),
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
    words = f"{ours} {number} reads analysers" + (
        f"; to compare it with: {besides}" if besides else ""
    )
    yield Finding("Extras", "FST engines", Health.OK, words)
    if installed("wordfreq") is not None:
        yield _word_lists()


def _word_lists() -> Finding:
    tags = [path.stem for path in list_cards()]
    try:
        having = [tag for tag in tags if has_list(tag)]
    except ValueError as error:
        mend = (f"{install_line('wordfreq')} --force-reinstall",)
        return Finding("Extras", "word lists", Health.BROKEN, f"{error}.", mend)
    words = f"for sources in {', '.join(having)}"
    return Finding("Extras", "word lists", Health.OK, words)


def packs() -> Iterator[Finding]:
    """Check the packs of metrics that installed packages bring; their code is run."""
    packs, troubles = installed_packs()
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
    mend = (uninstall_line(package),)
    return Finding("Metric packs", trouble.name, Health.BROKEN, words, mend)


# Keys


def keys() -> Iterator[Finding]:
    """Check whether the keyring answers, and which services have a key; no key is read out."""
    here = [
        name
        for name, known_variable in known_variables().items()
        if os.environ.get(known_variable, "").strip()
    ]
    answer = _asked()
    if isinstance(answer, str):
        words = f"{answer} Keys in environment variables work without it."
        mend = (_variable_line(),)
        yield Finding("Keys", "keyring", Health.MISSING, words, mend)
        stored: list[str] = []
    else:
        stored, mend = answer, ("rosetta key set openrouter",)
        yield Finding("Keys", "keyring", Health.OK, f"{_backend()} answers")
    parts = [f"in variables: {', '.join(here)}"] if here else []
    parts += [f"in the keyring: {', '.join(stored)}"] if stored else []
    if parts:
        yield Finding("Keys", "services", Health.OK, "; ".join(parts))
    else:
        words = "no service has a key. Models on this computer need none; for another:"
        yield Finding("Keys", "services", Health.MISSING, words, mend)


def _variable_line() -> str:
    """Return the line that makes a key known to this shell, where no keyring can keep it."""
    line = "OPENROUTER_API_KEY=…"
    return f"set {line}" if os.name == "nt" else f"export {line}"


def _backend() -> str:
    import keyring

    return str(keyring.get_keyring().name)


def _asked() -> list[str] | str:
    """Return the names of stored keys, or say why the keyring does not tell them."""
    answers: list[list[str] | str] = []

    def ask() -> None:
        try:
            answers.append(stored_names())
        except KeyStoreError as error:
            answers.append(str(error).partition(" Put the key")[0])

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(KEYRING_SECONDS)
    return answers[0] if answers else "The keyring does not answer; it may wait for its password."
