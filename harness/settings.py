"""What a person chose once for every run and every visit: settings.toml in the data folder.

The file is theirs: they may write it by hand, and comments and order in it are kept when a screen changes a line. What a
field can be, and how a screen shows it and asks for it, is its metadata. The values are checked by hand, as the
first frame of the app waits for its colours: a model of pydantic alone would cost as much processor time as all else that
this module loads, twice over (60 ms against 33).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, get_type_hints

from corpora.files.toml_text import parse_toml
from harness.core.failures import UsageError
from harness.core.storage import PRIVATE, private_folder, read_text, usage_errors, write_file

NAME = "settings.toml"
MOST_BYTES = 2**18
MOST_NAMES = 500
"""Names in one table, and items of a list."""
MOST_CHARACTERS = 4096
"""Of one text; no path, URL or name is longer."""
LONGEST_WAIT = 10.0
"""Seconds for another process to finish writing; it takes milliseconds."""


class FieldError(ValueError):
    """A value that a field cannot have; ``words`` say what is wanted and continue from the field's name."""

    def __init__(self, words: str, *place: str) -> None:
        super().__init__(words)
        self.words = words
        self.place = place
        """Names that lead to the value, from the outside in."""


# What a field can be


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise FieldError("wants text in quotation marks")
    if len(value) > MOST_CHARACTERS:
        raise FieldError(f"is longer than {MOST_CHARACTERS:,} characters. Shorten it")
    if not value.strip() or not value.isprintable():
        raise FieldError("is blank, or holds a character that cannot be seen. Type it again")
    return value


def _matching(pattern: str, words: str) -> Callable[[object], str]:
    """Return what takes a text that the pattern fits; ``words`` say what is wanted."""

    def read(value: object) -> str:
        if not re.fullmatch(pattern, text := _text(value)):
            raise FieldError(words)
        return text

    return read


def _path(value: object) -> Path:
    try:
        path = Path(_text(value)).expanduser()
    except RuntimeError:
        raise FieldError("begins with a home folder that is not known here. Write it out") from None
    if not path.is_absolute():
        raise FieldError("must begin at the root or with ~, because runs start in any folder")
    return path


def _published(value: object) -> str:
    return _database(value) if "://" in _text(value) else str(_path(value))


_TYPE = "Type, or choose from the list."
_PLACE = "postgresql://USER@HOST/NAME without a password (rosetta key set HOST keeps that), or a folder"
_database = _matching(r"postgres(ql)?://([^:/?#@\s]+@)?[^@\s]*", f"wants {_PLACE}")
_signer = _matching(r"[0-9a-f]{64}", "wants public keys of 64 hexadecimal digits, in small letters")
_url = _matching(r"https?://[^/\s?#@]+(?:/[^\s?#@]*)?", "wants a URL such as https://llm.example.org/v1, without password or query")  # fmt: skip
_name = _matching(r"[a-z0-9][a-z0-9-]{0,39}", "has a name of other than small letters, digits and - (at most 40)")
_keys = _matching(r"\s*[^,\s][^,]*(,\s*[^,\s][^,]*)*", "wants names of keys such as n, or ctrl+n,comma")


class SettingSpec(NamedTuple):
    """What a field can be, and how a screen shows it and asks for it."""

    part: str
    """Of the screen."""
    read: Callable[[object], Any]
    """Makes the value from what TOML has, of a list or table each one; FieldError where it cannot be."""
    title: str = ""
    note: str = ""
    """What it is for, in a few words."""
    about: str = ""
    """What may be typed."""
    files: tuple[str, ...] | None = None
    """Endings of files that are offered where it is typed, ``/`` for folders; None: it is no path."""
    items: str = ""
    """What a list is of."""
    name: Callable[[object], str] = _text
    """Examines a name in a table."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be chosen; a field that is empty leaves it to the program."""

    theme: Annotated[str, SettingSpec("Colours", _text)] = ""
    """Name of the app's colours."""
    pane: Annotated[str, SettingSpec("Colours", _matching("open|closed", "wants open or closed"))] = ""
    """Whether the app shows the entry under the cursor beside a table; empty: open."""
    columns: Annotated[str, SettingSpec("Colours", _matching(r"[+-][a-z_.0-9]+( [+-][a-z_.0-9]+)*", "wants such as +ter -tokens"))] = ""  # fmt: skip
    """Columns of the entries of a run that are shown (+) and not (-), as `s` there writes them; empty: by the width."""
    notices: Annotated[str, SettingSpec("Colours", _matching("on|off", "wants on or off"))] = ""
    """Whether a run shows in the terminal's title how far it is, and rings and notifies at its end; empty: on."""
    endpoint: Annotated[str, SettingSpec("Models", _text, "Default endpoint", "for chat and pipeline")] = ""
    """Where a model is asked when a run names no endpoint: a preset, an own name, or a URL."""
    model: Annotated[str, SettingSpec(
        "Models", _text, "Default model", "asked for at the default endpoint",
        "Its exact id at the default endpoint, such as qwen2.5:7b.",
    )] = ""  # fmt: skip
    """The model that is asked for at that endpoint when a run names none."""
    prices: Annotated[Path | None, SettingSpec(
        "Models", _path, "Own price table", "goes before the shipped table",
        "A file of yours with prices in US dollars; docs/prices.md shows one.", (".toml",),
    )] = None  # fmt: skip
    """The person's own price table, for every run that names none."""
    exports: Annotated[Path | None, SettingSpec("Folders", _path, "Exports", "", _TYPE, ("/",))] = None
    """Folder that exports go to; None: the folder in which the program was started."""
    publish: Annotated[str, SettingSpec(
        "Sharing", _published, "Cards go to", "by rosetta publish and --submit", f"{_PLACE}.", ("/",)
    )] = ""  # fmt: skip
    """Where ``rosetta publish`` and ``--submit`` put cards: the URL of a PostgreSQL database without a password, or a folder."""
    language_folders: Annotated[
        tuple[Path, ...], SettingSpec("Folders", _path, "Languages", "", _TYPE, ("/",), "folders")
    ] = ()
    """Where language cards and analysers lie besides the data folder."""
    trusted_signers: Annotated[tuple[str, ...], SettingSpec(
        "Sharing", _signer, "Weights by", "",
        "The organisation's public key, 64 hexadecimal digits; `rosetta run --scoring` names it where it is wanted.",
        items="public keys",
    )] = ()  # fmt: skip
    """Public keys of organisations whose signed weights are taken (``--scoring``), 64 hexadecimal digits each."""
    endpoints: Annotated[Mapping[str, str], SettingSpec(
        "Endpoints", _url, "URL of", "yours",
        "Its base URL, such as https://llm.example.org/v1. A key of it goes under Service keys.", name=_name,
    )] = field(default_factory=dict)  # fmt: skip
    """Own name of an endpoint → its URL."""
    keys: Annotated[Mapping[str, str], SettingSpec("Keyboard", _keys)] = field(default_factory=dict)
    """Id of an action → the keys that lead to it, with commas between them."""

    def url_of(self, name_or_url: str) -> str:
        """Return the URL of an endpoint that the person named; anything else as it is."""
        return self.endpoints.get(name_or_url, name_or_url)

    def completed(self, method: str, told: Mapping[str, Any]) -> dict[str, Any]:
        """Fill in what the options of a method leave open and these settings say.

        Own names of endpoints become URLs, so that a plan means the same whatever the settings say later.
        The model belongs to its endpoint: it is not taken to another.
        """
        from harness.method.option_table import METHODS, MethodSpec

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


SPECS: Final[Mapping[str, SettingSpec]] = {name: hint.__metadata__[0] for name, hint in get_type_hints(Settings, include_extras=True).items()}  # fmt: skip
"""Of each field, in order."""


def checked(name: str, value: object) -> Any:
    """Return the value of a field as Settings holds it, from what TOML holds; FieldError where it cannot be."""
    if (spec := SPECS.get(name)) is None:
        raise FieldError(f"is not known here. There are: {', '.join(SPECS)}", name)
    default = getattr(Settings(), name)
    if isinstance(default, tuple):
        if not isinstance(value, list) or len(value) > MOST_NAMES:
            raise FieldError(f"wants a list of {spec.items} in square brackets", name)
        return tuple(dict.fromkeys(_placed(spec.read, item, name) for item in value))
    if not isinstance(default, dict):
        return _placed(spec.read, value, name)
    if not isinstance(value, dict) or len(value) > MOST_NAMES:
        raise FieldError("wants a table: name = text, a line each", name)
    for entry, text in value.items():
        if isinstance(text, dict):
            raise FieldError("is a table. Put a name with a dot into quotation marks", name, entry)
        _placed(spec.name, entry, name, entry)
        _placed(spec.read, text, name, entry)
    return dict(value)


def _placed(read: Callable[[object], Any], value: object, *place: str) -> Any:
    try:
        return read(value)
    except FieldError as error:
        raise FieldError(error.words, *place) from None


# Reading


def settings_path(home: Path) -> Path:
    """Return the path of the settings in a data folder."""
    return home / NAME


def read_settings(home: Path) -> Settings:
    """Read the settings of a data folder; the defaults where it has none.

    UsageError names file, line, field and fix of the first thing that is wrong.
    """
    path = settings_path(home)
    if not path.exists():
        return Settings()
    text, _ = read_text(path, "the file of your settings", MOST_BYTES)
    return parse_settings(text, str(path))


def parse_settings(text: str, file: str) -> Settings:
    """Read the text of a file of settings; UsageError names ``file``, line, field and fix."""
    with usage_errors(file, text):
        stated = parse_toml(text)
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
            names = (path.with_name(f"{path.stem}.broken-{number}.toml") for number in count(1))
            path.replace(next(name for name in names if not name.exists()))
        now = reduce(changed, changes, before)
        try:
            content = _rewritten(text, before, now).encode()
        except UnicodeEncodeError:
            raise UsageError("A name holds bytes that no text file can hold. Rename the file.") from None
        write_file(path, content, overwrite=True)
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

    try:
        folder = private_folder(private_folder(home) / "locks")
        with filelock.FileLock(folder / "settings.lock", timeout=LONGEST_WAIT, mode=PRIVATE):
            yield
    except filelock.Timeout:
        raise UsageError(f"{settings_path(home)} is held by another Rosetta. Close it, then try again.") from None
    except OSError as error:
        raise UsageError(f"The data folder {home} cannot be written ({error.strerror}). Allow it, or make room there.") from error  # fmt: skip


def _rewritten(text: str, before: Settings, now: Settings) -> str:
    """Write the fields that differ into the text of a file, and leave the rest of it alone."""
    import tomlkit

    document = tomlkit.parse(text or _FIRST_LINE)
    for name in SPECS:
        value, table = getattr(now, name), document.get(name)
        if getattr(before, name) == value:
            continue
        if not value:
            document.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(table, dict):
            for entry in dict.fromkeys([*table, *value]):
                if entry not in value:
                    del table[entry]
                elif table.get(entry) != value[entry]:
                    table[entry] = value[entry]
        else:
            document[name] = _as_toml(value)
    return tomlkit.dumps(document)


_FIRST_LINE = "# Rosetta reads this file when it starts: docs/settings.md says what can stand here.\n"


def _as_toml(value: object) -> Any:
    if isinstance(value, tuple):
        return list(map(str, value))
    return dict(value) if isinstance(value, Mapping) else str(value)
