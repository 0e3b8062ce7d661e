"""What the fields of a form offer: files and folders, corpora, methods, endpoints, models, prompts, metrics."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from corpora.model.task import TASKS
from corpora.samples import DEMO_CORPUS, sample_path
from corpora.text.messages import counted
from harness.core.failures import HarnessError, StoreError, UsageError
from harness.endpoint.budget import Prices
from harness.endpoint.endpoints import chat_endpoint, presets
from harness.inputs.prompt import load_prompt, shipped_versions
from harness.method.method_names import method_names
from harness.method.option_table import FORMS
from harness.store.corpora.listing import PREFIX, list_corpora
from harness.store.mixed_setups import RETRIED_WITH
from harness.store.sqlite.database import opened
from harness.vault import opening
from scoring.core.inventory import inventory, metric_named, short_title, title, typed_name
from scoring.core.packs import every_pack

MOST = 200
"""Things that one list offers; more typed letters narrow it."""

MOST_LOOKED_AT = 5_000
"""Names of a folder that are read; a folder may hold millions."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One thing that a field offers."""

    value: str
    """What the field will hold."""
    label: str
    """What is in the list."""
    about: str = ""
    goes_on: bool = False
    """True for a folder: what is in it is offered next."""


Suggest = Callable[[str], list[Suggestion]]
"""Gives what fits a text, everything for an empty one; may block, so it is called in a thread."""


def paths(typed: str) -> list[Suggestion]:
    """Offer what begins with the typed path, folders first; hidden names only where their dot is typed."""
    cut = max(typed.rfind("/"), typed.rfind(os.sep)) + 1
    folder, beginning = ("~/", "") if typed == "~" else (typed[:cut], typed[cut:])
    try:
        with os.scandir(os.path.expanduser(folder) or ".") as entries:  # noqa: PTH111  typed text, kept as typed
            names = [(entry.name, entry.is_dir()) for entry in islice(entries, MOST_LOOKED_AT)]
    except (OSError, ValueError):
        return []
    fitting = [
        (name, is_folder)
        for name, is_folder in names
        if name.startswith(beginning) and (beginning or not name.startswith("."))
    ]
    ordered = sorted(fitting, key=lambda match: (not match[1], match[0].casefold(), match[0]))
    shown = [(f"{name}/" if is_folder else name, is_folder) for name, is_folder in ordered[:MOST]]
    return [Suggestion(f"{folder}{name}", name, goes_on=is_folder) for name, is_folder in shown]


def corpora(store_path: Path, vault: Callable[[], str]) -> Suggest:
    """Offer the corpora of the store, the one that comes with the program, and files.

    Where ``vault`` gives a folder, those of the vault in it, and nothing else.
    """

    def suggest(typed: str) -> list[Suggestion]:
        if folder := vault().strip():
            return [suggestion for suggestion in _in_vault(folder, store_path.parent) if _fits(suggestion, typed)]
        known = [suggestion for suggestion in _known(store_path) if _fits(suggestion, typed)]
        return known + paths(typed)

    return suggest


def _known(store_path: Path) -> list[Suggestion]:
    try:
        with opened(store_path) as connection:
            corpus_summaries = list_corpora(connection)
    except StoreError:
        corpus_summaries = []
    listed = [
        Suggestion(
            f"{PREFIX}{corpus_summary.sha256[:12]}",
            corpus_summary.dataset.id,
            f"{corpus_summary.dataset.source_language} → {corpus_summary.dataset.target_language} "
            f"· {counted(corpus_summary.entries, 'entry', 'entries')} · in the store",
        )
        for corpus_summary in corpus_summaries
        if not corpus_summary.partial
    ]
    sample = sample_path(DEMO_CORPUS)
    return [*listed, Suggestion(str(sample), sample.stem, "en → eo · comes with the program")]


def _in_vault(folder: str, home: Path) -> list[Suggestion]:
    """List what a vault holds; nothing is opened for it. Of one that cannot be read the form says why on its own."""
    try:
        state = opening.vault_at(Path(folder).expanduser(), home).read()
    except UsageError:
        return []
    return [
        Suggestion(corpus.name, corpus.name, counted(sum(corpus.entries.values()), "entry", "entries"))
        for corpus in state.head.corpora.values()
    ]


def vaults(home: Path) -> dict[str, str]:
    """Return the folders in which this computer saw vaults."""
    return dict.fromkeys(opening.folders_seen(home), "a vault that was here")


def choices(given: Callable[[], Mapping[str, str]]) -> Suggest:
    """Offer values with a word on each; they are asked for when the list is opened."""

    def suggest(typed: str) -> list[Suggestion]:
        every = [Suggestion(value, value, about) for value, about in given().items()]
        return [suggestion for suggestion in every if _fits(suggestion, typed)]

    return suggest


def with_paths(first: Suggest) -> Suggest:
    """Offer these values, then files."""
    return lambda typed: first(typed) + paths(typed)


def forms() -> dict[str, str]:
    """Return the forms of corpus files."""
    return dict.fromkeys(FORMS, "")


def methods() -> dict[str, str]:
    """Return the methods with a word on each."""
    return method_names()


def endpoints() -> dict[str, str]:
    """Return the endpoints known by name, and whether a key of each is in its variable."""
    keys_known = {}
    for name, endpoint in presets("chat").items():
        key = "key is set" if os.environ.get(endpoint.environment) else "needs a key"
        keys_known[name] = "on this machine" if endpoint.local else key
    return keys_known


def prompts() -> dict[str, str]:
    """Return the shipped prompts that can begin a conversation; the others are added to one."""
    of_tasks = {f"{name}-v1": f"task {name}" for name, task in TASKS.items() if task.asks_models}
    shipped = shipped_versions()
    versions = (load_prompt(name) for name in shipped if name not in of_tasks)
    return {
        version.version: "for coaching" if "notes" in version.slots else "without coaching"
        for version in versions
        if "target_language" in version.slots
    } | {name: words for name, words in of_tasks.items() if name in shipped}


def tasks() -> dict[str, str]:
    """Return the tasks that a corpus may be of, with a word on each."""
    return {name: task.title for name, task in TASKS.items()}


def models(store_path: Path, endpoint: str) -> dict[str, str]:
    """Return the models that runs of this store asked for at an endpoint, then those whose price is known.

    A run in parts may name several models as one; each of them is asked for as itself.
    """
    try:
        provider = chat_endpoint(endpoint).name
        with opened(store_path) as connection:
            rows = connection.execute(
                "SELECT model_slug, count(*) FROM runs WHERE json_extract(setup, '$.provider') = ?"
                " AND setup -> '$.options' -> ? IS NULL AND put_away IS NULL"
                " GROUP BY 1 ORDER BY max(created) DESC LIMIT ?",
                (provider, RETRIED_WITH, MOST),
            ).fetchall()
    except HarnessError:
        return {}
    used = {model: "1 run" if runs == 1 else f"{runs} runs" for model, runs in rows}
    priced = dict.fromkeys(Prices().models(provider), "price is known")
    return used | {model: about for model, about in priced.items() if model not in used}


def metrics(typed: str) -> list[Suggestion]:
    """Offer metrics for the last part of a list of ids."""
    before, comma, last = typed.rpartition(",")
    every = (
        {"rosetta": "all that can be computed"}
        | {pack.name: pack.title for pack in every_pack()}
        | {typed_name(id_): title(id_) for id_ in inventory()}
    )
    taken = {metric_named(name) or name.strip() for name in before.split(",")}
    wanted = last.strip().casefold()
    return [
        Suggestion(f"{before}{comma}{name}", short_title(metric_named(name) or name), about)
        for name, about in every.items()
        if (metric_named(name) or name) not in taken and wanted in f"{name} {metric_named(name)} {about}".casefold()
    ]


def _fits(each: Suggestion, typed: str) -> bool:
    wanted = typed.strip().casefold()
    return wanted in each.value.casefold() or wanted in each.label.casefold()
