"""What a person chose for the app in the settings, examined for the doctor: its colours and its keys.

The file reads well whatever it names; only the app knows which colours there are and what a key does already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.core.failures import UsageError
from harness.doctor.finding import Finding, Health
from harness.settings import Settings, fault, read_settings
from rosetta_tui.show.key_names import key_name


def chosen(home: Path) -> Iterator[Finding]:
    """Check colours and keys of the settings; a file that cannot be read is reported elsewhere."""
    try:
        now = read_settings(home)
    except UsageError:
        return
    if words := strange_theme(now):
        yield Finding("App", "colours", Health.BROKEN, fault(home, words, "theme"))
    for id_, words in _strange_keys(now.keys):
        yield Finding("App", "keys", Health.BROKEN, fault(home, words, "keys", id_))


def strange_theme(settings: Settings) -> str:
    """Return what is wrong with the colours that are chosen; empty where nothing is."""
    if not settings.theme:
        return ""
    from rosetta_tui.toolkit.customization import (
        THEME_WORDS,  # loads Textual, which the doctor goes without
    )

    if settings.theme in THEME_WORDS:
        return ""
    return f"names no colours. There are: {', '.join(THEME_WORDS)}"


def _strange_keys(keys: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each act that does not exist, and each whose key does something else where the act is offered."""
    if not keys:
        return
    from rosetta_tui.toolkit.customization import KEPT, keyboard

    board = keyboard()
    for id_ in keys:
        act = board.acts.get(id_)
        if act is None:
            yield (id_, "names nothing that has a key. Leave it out, or see Keyboard in the settings")
            continue
        for key in act.keys_now(keys):
            if taken := "the program itself" if key in KEPT else board.taken(act, key, keys):
                yield id_, f"takes {key_name(key)}, which is the key of {taken}. Choose another"
