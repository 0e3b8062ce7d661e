"""Keys where they would be written down: in settings of a plug-in, in a body, in an endpoint's address.

What a method was told stands in the store and on the run card, for everybody who gets it. Keys have two
places of their own, the keyring and the environment, which ``harness.endpoint.keys`` reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from harness.core.failures import UsageError
from harness.endpoint.endpoints import checked_url
from harness.method.options import MethodOptions

_WORDS = frozenset({
    "key", "keys", "apikey", "token", "secret", "password", "passwd", "passphrase", "pwd",
    "credential", "credentials", "authorization", "bearer", "auth",
})  # fmt: skip
"""Words with which the name of a key ends or begins."""

_ENDINGS = ("key", "secret", "password", "passwd", "passphrase", "credential", "credentials")
_NO_KEYS = frozenset({"monkey", "donkey", "turkey", "hockey", "whiskey", "jockey", "hotkey"})
"""Words that end so and name no key; ``mykey`` names one."""

_PASSES = frozenset({"pass", "mypass", "userpass", "dbpass", "passcode"})
_COUNTS = frozenset({"max", "min", "most", "least", "count", "number", "num", "per"})
"""With one of these a number counts something: ``max_token``."""

_TEXT_TOKENS = frozenset({"bos", "eos", "pad", "unk", "sep", "cls", "mask", "stop", "end", "start"})
"""``eos_token`` names a sign of a model, no key."""

_LOOKS_LIKE_ONE = re.compile(
    r"(?i:bearer\s+\S{8,})|(?:sk|pk|rk|hf|ghp|gho|glpat|xox[abp]|r8|gsk|nvapi)[-_][A-Za-z0-9_-]{12,}"
    r"|AIza[A-Za-z0-9_-]{20,}|AKIA[A-Z0-9]{12,}|eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_.-]+"
)
"""Beginnings by which providers mark their keys, and signed tokens."""

_BETWEEN = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")


def refuse_written_keys(options: MethodOptions) -> None:
    """Raise UsageError, without the key, where something that looks like one would be written down."""
    refuse_told_keys({"settings": options.settings, "body": options.body})
    if options.endpoint is not None and "://" in options.endpoint:
        refuse_key_in_url(checked_url(options.endpoint))


def refuse_key_in_url(url: str) -> None:
    """Raise UsageError, without the key, where a part of an address looks like one."""
    if any(_LOOKS_LIKE_ONE.match(part) for part in urlsplit(url).path.split("/")):
        raise UsageError(
            "The endpoint's URL must not carry a key, because it is written down. Store it with: "
            f"rosetta key set {urlsplit(url).hostname}"
        )


def refuse_told_keys(told: Mapping[str, Any]) -> None:
    """Raise UsageError as ``refuse_written_keys`` does, for options that were not yet checked."""
    for option, place in (("--set", "settings"), ("--body", "body")):
        if isinstance(fields := told.get(place), Mapping):
            _refuse(option, fields)


def _refuse(option: str, fields: Mapping[str, Any]) -> None:
    for name in keys_in(fields):
        raise UsageError(
            f"{option}: {name!r} looks like a key, and what a method is told is written on the run card. "
            "Store the key with `rosetta key set HOST` or put it into the environment; a plug-in reads "
            "it with harness.endpoint.keys.key_for. If it is none, give it another name."
        )


def keys_in(told: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Yield the names of what looks like a key, by name or by value, through all levels."""
    for name, value in told.items():
        path = f"{before}{name}"
        if isinstance(value, str):
            if _names_key(name) or _LOOKS_LIKE_ONE.match(value.strip()):
                yield path
        elif isinstance(value, int | float) and not isinstance(value, bool):
            if _names_key(name, number=True):
                yield path
        elif isinstance(value, Mapping):
            yield from keys_in(value, f"{path}.")
        elif isinstance(value, list):
            yield from keys_in({f"{name}[{at}]": inner for at, inner in enumerate(value)}, before)


def _names_key(name: str, *, number: bool = False) -> bool:
    """Tell whether a name is that of a key; of a ``number`` it begins many counts: ``token_limit``."""
    parts = (word.lower().rstrip("0123456789") for word in _BETWEEN.split(name) if word)
    words = [part for part in parts if part]
    if not words or (words[-1] == "token" and not _TEXT_TOKENS.isdisjoint(words)):
        return False
    joined = "".join(words)
    if number and not _COUNTS.isdisjoint(words):
        return False
    ends = words[-1] in _WORDS or (words[-1].endswith(_ENDINGS) and words[-1] not in _NO_KEYS)
    begins = words[0] in _WORDS and not number
    return ends or begins or joined in _PASSES or "apikey" in joined
