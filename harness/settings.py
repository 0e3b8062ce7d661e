"""What a person chose once for every run and every visit: settings.toml in the data folder.

The file is theirs: they may write it by hand, and comments and order in it are kept when a screen changes a
line. Reading it loads nothing heavy, because the first frame of the app waits for its colours: so the fields
are checked by hand, for a model of pydantic alone would cost as much processor time as all else that this
module loads, twice over (60 ms against 33).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from itertools import count
from pathlib import Path
from typing import Any

from corpora.files.toml_text import parse_toml
from harness.core.failures import UsageError
from harness.core.user_file import read_text

NAME = "settings.toml"

MOST_BYTES = 2**18
MOST_NAMES = 500
"""Names in one table, and folders in a list."""
MOST_CHARACTERS = 4096
"""Of one text; no path, URL or name is longer."""
LONGEST_WAIT = 10.0
"""Seconds for another process to finish writing; it takes milliseconds."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be chosen; a field that is empty leaves it to the program."""

    theme: str = ""
    """Name of the app's colours."""
    endpoint: str = ""
    """Where a model is asked when a run names no endpoint: a preset, an own name, or a URL."""
    model: str = ""
    """The model that is asked for at that endpoint when a run names none."""
    prices: Path | None = None
    """The person's own price table, for every run that names none."""
    exports: Path | None = None
    """Folder that exports go to; None: the folder in which the program was started."""
    publish: str = ""
    """Where ``rosetta publish`` and ``--submit`` put cards: the URL of a PostgreSQL database without a password, or a folder."""
    language_folders: tuple[Path, ...] = ()
    """Where language cards and analysers lie besides the data folder."""
    trusted_signers: tuple[str, ...] = ()
    """Public keys of organisations whose signed weights are taken (``--scoring``), 64 hexadecimal digits each."""
    endpoints: Mapping[str, str] = field(default_factory=dict)
    """Own name of an endpoint → its URL."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Id of an action → the keys that lead to it, with commas between them."""

    def url_of(self, name_or_url: str) -> str:
        """Return the URL of an endpoint that the person named; anything else as it is."""
        return self.endpoints.get(name_or_url, name_or_url)

    def completed(self, method: str, told: Mapping[str, Any]) -> dict[str, Any]:
        """Fill in what the options of a method leave open and these settings say.

        Own names of endpoints become URLs, so that a plan means the same whatever the settings say later.
        The model belongs to its endpoint: it is not taken to another.
        """
        from harness.method.shipped import METHODS, MethodSpec

        needs, takes = METHODS.get(method, MethodSpec())
        full = dict(told)
        if "endpoint" in needs and self.endpoint:
            full.setdefault("endpoint", self.endpoint)
        if "model" in needs and self.model and full.get("endpoint") == self.endpoint:
            full.setdefault("model", self.model)
        if "prices" in takes and self.prices is not None:
            full.setdefault("prices", self.prices)
        if "endpoint" in full:
            full["endpoint"] = self.url_of(full["endpoint"])
        return full


def settings_path(home: Path) -> Path:
    """Return the path of the settings in a data folder."""
    return home / NAME


def read_settings(home: Path) -> Settings:
    """Read the settings of a data folder; the defaults if there is no file.

    UsageError names file, line, field and fix of the first thing that is wrong.
    """
    path = settings_path(home)
    if not path.exists():
        return Settings()
    text, _ = read_text(path, "the file of your settings", MOST_BYTES)
    return parse_settings(text, str(path))


def parse_settings(text: str, file: str) -> Settings:
    """Read the text of a file of settings; UsageError names ``file``, line, field and fix."""
    try:
        stated = parse_toml(text)
    except ValueError as error:
        raise UsageError(f"{file}: not valid TOML: {error}. Correct it.") from None
    try:
        return Settings(**{name: checked(name, value) for name, value in stated.items()})
    except FieldError as error:
        raise UsageError(_told(error, text, file)) from None


def fault(home: Path, words: str, *place: str) -> str:
    """Return the file, line and field of a value that can be read and means nothing."""
    path = settings_path(home)
    text, _ = read_text(path, "the file of your settings", MOST_BYTES)
    return _told(FieldError(words, *place), text, str(path))


def _told(error: FieldError, text: str, file: str) -> str:
    line = _line(text, error.place)
    where = f"line {line}: " if line else ""
    return f"{file}: {where}field {'.'.join(error.place)!r} {error.words}."


class FieldError(ValueError):
    """A value that a field cannot have; ``words`` say what is wanted and continue from the field's name."""

    def __init__(self, words: str, *place: str) -> None:
        super().__init__(words)
        self.words = words
        self.place = place
        """Names that lead to the value, from the outside in."""


def checked(name: str, value: object) -> Any:
    """Return the value of a field as Settings holds it, from what TOML holds; FieldError where it cannot be."""
    if name not in _READERS:
        raise FieldError(f"is not known here. There are: {', '.join(_READERS)}", name)
    return _within(name, _READERS[name], value)


def _within(name: str, read: Callable[[Any], Any], value: object) -> Any:
    try:
        return read(value)
    except FieldError as error:
        raise FieldError(error.words, name, *error.place) from None


def _line(text: str, place: tuple[str, ...]) -> int | None:
    """Find the line of a field, else of the table that it is in; None where neither has one."""
    section: tuple[str, ...] = ()
    around: int | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            section = (header[1].strip(),)
            here: tuple[str, ...] = section
        elif key := _KEY.match(line):
            here = (*section, key[1] or key[2] or key[3] or "")
        else:
            continue
        if here == place:
            return number
        if here == place[: len(here)]:
            around = around or number
    return around


_HEADER = re.compile(r"\s*\[+\s*[\"']?([^\]\"']+)")
_KEY = re.compile(r"\s*(?:\"([^\"]*)\"|'([^']*)'|([\w-]+))\s*[=.]")


# What a field can be


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise FieldError("wants text in quotation marks")
    if len(value) > MOST_CHARACTERS:
        raise FieldError(f"is longer than {MOST_CHARACTERS:,} characters. Shorten it")
    if not value.strip() or not value.isprintable():
        raise FieldError("is blank, or holds a character that cannot be seen. Type it again")
    return value


def _published(value: object) -> str:
    place = _text(value)
    if "://" not in place:
        return str(_path(place))
    if not _DATABASE.fullmatch(place):
        raise FieldError(
            "wants postgresql://USER@HOST/NAME without a password (rosetta key set HOST keeps that), or a folder"
        )
    return place


_DATABASE = re.compile(r"postgres(ql)?://([^:/?#@\s]+@)?[^@\s]*")


def _path(value: object) -> Path:
    try:
        path = Path(_text(value)).expanduser()
    except RuntimeError:
        raise FieldError("begins with a home folder that is not known here. Write it out") from None
    if not path.is_absolute():
        raise FieldError("must begin at the root or with ~, because runs start in any folder")
    return path


def _paths(value: object) -> tuple[Path, ...]:
    if not isinstance(value, list) or len(value) > MOST_NAMES:
        raise FieldError("wants a list of folders in square brackets")
    return tuple(dict.fromkeys(map(_path, value)))


def _signers(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > MOST_NAMES:
        raise FieldError("wants a list of public keys in square brackets")
    if not all(isinstance(signer, str) and _KEY_DIGITS.fullmatch(signer) for signer in value):
        raise FieldError("wants public keys of 64 hexadecimal digits, in small letters")
    return tuple(dict.fromkeys(value))


_KEY_DIGITS = re.compile(r"[0-9a-f]{64}", re.ASCII)


def _table(read: Callable[[str, str], None]) -> Callable[[object], dict[str, str]]:
    """Make a reader of tables whose names and texts are each examined by ``read``."""

    def table(value: object) -> dict[str, str]:
        if not isinstance(value, dict) or len(value) > MOST_NAMES:
            raise FieldError("wants a table: name = text, a line each")
        for name, inner in value.items():
            if isinstance(inner, dict):
                raise FieldError("is a table. Put a name with a dot into quotation marks", name)
            _within(name, lambda inner, name=name: read(name, _text(inner)), inner)  # type: ignore[misc]
        return dict(value)

    return table


def _own_endpoint(name: str, url: str) -> None:
    if not _NAME.fullmatch(name):
        raise FieldError("has a name of other than small letters, digits and - (at most 40)")
    if not _URL.fullmatch(url):
        raise FieldError(
            "wants a URL such as https://llm.example.org/v1, without password or query"
        )


_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}", re.ASCII)
_URL = re.compile(r"https?://[^/\s?#@]+(?:/[^\s?#@]*)?")


def _chosen_keys(_: str, keys: str) -> None:
    if not all(key.strip() for key in keys.split(",")):
        raise FieldError("wants names of keys such as n, or ctrl+n,comma")


_READERS: dict[str, Callable[[Any], Any]] = {
    "theme": _text,
    "endpoint": _text,
    "model": _text,
    "prices": _path,
    "exports": _path,
    "publish": _published,
    "language_folders": _paths,
    "trusted_signers": _signers,
    "endpoints": _table(_own_endpoint),
    "keys": _table(_chosen_keys),
}
"""Field → what it can be, in the order of Settings."""


# Writing


def change_settings(home: Path, *changes: Changes) -> Settings:
    """Make changes one after the other in the settings as they are in the file, all or none; gives what holds.

    What another screen or process wrote meanwhile stays, and so does every line that does not change. A file
    that cannot be read is kept next to it under another name, because its person may want to fix it.
    Raises UsageError where the folder cannot be written.
    """
    path = settings_path(home)
    with _alone(home):
        try:
            before = read_settings(home)
            text = path.read_text("utf-8-sig") if path.exists() else ""
        except UsageError:
            before, text = Settings(), ""
            path.replace(_free_name(path))
        now = reduce(changed, changes, before)
        _write(path, _rewritten(text, before, now))
    return now


Changes = Mapping[str, Any]
"""Field → what it becomes; of a table only the names that change, each with its text or None to take it away."""


def changed(settings: Settings, changes: Changes) -> Settings:
    """Return settings with some fields changed."""
    now = dict(changes)
    for name, value in changes.items():
        if isinstance(value, Mapping):
            table = {**getattr(settings, name), **value}
            now[name] = {entry_name: text for entry_name, text in table.items() if text is not None}
    return replace(settings, **now)


def taking_back(changes: Changes, settings: Settings) -> dict[str, Any]:
    """Return the changes that take others back, which were made in ``settings``."""
    before = {name: getattr(settings, name) for name in changes}
    for name, value in changes.items():
        if isinstance(value, Mapping):
            before[name] = {entry_name: before[name].get(entry_name) for entry_name in value}
    return before


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Prevent every other process from writing the settings until the block ends."""
    import filelock

    from harness.core.storage import private_folder

    try:
        folder = private_folder(private_folder(home) / "locks")
        lock = filelock.FileLock(folder / "settings.lock", timeout=LONGEST_WAIT, mode=0o600)
        lock.acquire()
    except filelock.Timeout:
        raise UsageError(
            f"{settings_path(home)} is held by another Rosetta. Close it, then try again."
        ) from None
    except OSError as error:
        raise UsageError(
            f"The data folder {home} cannot be written ({error.strerror}). Allow it, or make room there."
        ) from error
    try:
        yield
    finally:
        lock.release()


def _write(path: Path, text: str) -> None:
    from harness.core.storage import write_file

    try:
        content = text.encode()
    except UnicodeEncodeError:
        raise UsageError(
            "A name holds bytes that no text file can hold. Rename the file."
        ) from None
    write_file(path, content, overwrite=True)


def _free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.stem}.broken-{number}.toml") for number in count(1))
    return next(name for name in names if not name.exists())


def _rewritten(text: str, before: Settings, now: Settings) -> str:
    """Write the fields that differ into the text of a file, and leave the rest of it alone."""
    import tomlkit

    document = tomlkit.parse(text or _FIRST_LINE)
    for setting in fields(Settings):
        was, value = getattr(before, setting.name), getattr(now, setting.name)
        if was == value:
            continue
        if isinstance(value, Mapping) and was:
            _update(document[setting.name], value)
        elif value:
            document[setting.name] = _as_toml(value)
        if not value:
            document.pop(setting.name, None)
    return tomlkit.dumps(document)


_FIRST_LINE = (
    "# Rosetta reads this file when it starts: docs/settings.md says what can stand here.\n"
)


def _update(table: MutableMapping[str, Any], now: Mapping[str, str]) -> None:
    for name in set(table) - set(now):
        del table[name]
    for name, value in now.items():
        if table.get(name) != value:
            table[name] = value


def _as_toml(value: object) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple):
        return list(map(str, value))
    return dict(value) if isinstance(value, Mapping) else value
