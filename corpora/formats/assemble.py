"""From raw fields to a checked envelope and checked entries."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping

from pydantic import ValidationError

from corpora.checks.envelope import MOST_FIELDS, misplaced, without_roles
from corpora.files.json_types import Json, JsonObject
from corpora.files.problems import Findings, shown
from corpora.formats.read_json import strings_in
from corpora.languages.tags import as_tag, equal_tags, is_assigned, is_language_tag, nearest, pair_label, wrong_tag
from corpora.model.corpus import (
    DIFFICULTY_WORD,
    EXACT_TIER,
    INHERITED,
    RECORD,
    SIDES,
    TIER_OF_WORD,
    Dataset,
    RawCorpus,
    RawEntry,
    texts_of,
)
from corpora.model.entry import Entry, Segment
from corpora.model.task import TASKS, TRANSLATION, Task, unknown_task
from corpora.model.task_records import complete, sides_that_follow
from corpora.model.terms import FIELD
from corpora.text.comparison import MOST_STACKED, is_blank, stacked

_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
_KNOWN = frozenset(Entry.model_fields) - {"register_", "local_only", "not_stored", "of_task"} | {"register", FIELD}
_KNOWN_OF_DATASET = frozenset(Dataset.model_fields)
_LARGEST_ID = 2**53 - 1
_SEGMENTS = ", ".join(Segment)

_WRONG: Mapping[str, tuple[str, str]] = {
    "id": ("It must be a whole number or text.", 'Write 42 or "s42".'),
    "segment": ("It is not a segment.", f"Permitted: {_SEGMENTS}."),
    "difficulty": (
        "It must be a whole number from 1 to 5, or easy, medium, hard.",
        "See the tiers of the specification, §2.4.",
    ),
    "variants": ("It must be a list of texts.", 'Write ["…", "…"].'),
    "reference": (
        "It must be text, or a list of texts.",
        "Put it in quotes. Further accepted translations go into `variants`.",
    ),
}
_WRONG_OF_DATASET: Mapping[str, tuple[str, str]] = {
    "provenance": ("It must be a list of texts.", 'Write ["…"].'),
    "canary": ("It must be a text or a list of texts.", 'Write "…" or ["…"].'),
    "columns_read": ("The name is taken.", "Call it something else."),
    "file_lines": ("It must be a whole number of at least 1.", "Write it so, or take it out."),
}
_NOT_TEXT = ("It must be text.", "Put it in quotes.")
_OPTIONS = {"source_language": "--source-language", "target_language": "--target-language"}


def assemble_dataset(raw: RawCorpus, given: JsonObject, file_id: str, findings: Findings) -> Dataset | None:
    """Complete the envelope from what the caller gave and check it; None where it stays unusable."""
    fields = with_tags(_without_empty(raw.envelope, Dataset.model_fields))
    for name, value in with_tags(given).items():
        stated = None if value is None else fields.setdefault(name, value)
        tags = name in _OPTIONS and isinstance(stated, str) and isinstance(value, str)
        if stated != value and not (tags and equal_tags(str(stated), str(value))):
            what = "The file says something else than the option."
            findings.error(what, "Leave the option out, or correct the file.", field=f"dataset.{name}")
    fields = {**raw.guessed, **fields}
    if not raw.has_envelope:
        fields.setdefault("id", file_id)
    missing = [name for name in ("id", *_OPTIONS) if name not in fields]
    for name in missing:
        option = _OPTIONS.get(name, "--id")
        mend = f"Write it in the file, or give {option}."
        findings.error("It is missing.", mend, field=f"dataset.{name}")
    _check_languages(fields, findings)
    if "task" in fields and (not isinstance(fields["task"], str) or fields["task"] not in TASKS):
        findings.error(*unknown_task(fields.pop("task")), field="dataset.task")
    if isinstance(fields.get("provenance"), str):
        fields["provenance"] = [fields["provenance"]]
    if missing:
        return None
    languages = (str(fields[name]) for name in _OPTIONS)
    fields.setdefault("language_pair", pair_label(*languages))
    return _dataset(fields, findings)


def _without_empty(fields: JsonObject, known: Container[str]) -> dict[str, Json]:
    """Omit known fields that are null; an unknown field may mean something by it."""
    return {name: value for name, value in fields.items() if value is not None or name not in known}


def with_tags(fields: JsonObject) -> dict[str, Json]:
    """Return an envelope whose languages are tags where they are names or tags of another form (``as_tag``)."""
    return {**fields, **{name: as_tag(text) for name in _OPTIONS if isinstance(text := fields.get(name), str)}}


def _check_languages(fields: JsonObject, findings: Findings) -> None:
    tags = {name: tag for name in _OPTIONS if isinstance(tag := fields.get(name), str)}
    for name, tag in tags.items():
        if not is_language_tag(tag):
            mend = "Write a tag such as en, crk, crk-Cans or es-MX, with hyphens."
            findings.error("It is not a language tag (BCP 47).", mend, field=f"dataset.{name}")
        elif not is_assigned(tag):
            what = f"No language has the tag {shown(tag, 20)} (ISO 639)."
            mend = "Correct it. For a language without a tag use a private one, qaa to qtz."
            findings.warning(what, mend, field=f"dataset.{name}")
    same = len(tags) == len(_OPTIONS) and equal_tags(*tags.values())
    if same and fields.get("task", TRANSLATION) == TRANSLATION:
        what = "Sources and references are said to be in one language, and this is a translation."
        mend = "Correct the tag that is wrong; a variety has its own tag, such as en-GB."
        findings.warning(what, mend, field="dataset.target_language")


_NOT_WRITABLE = ("It holds a NUL, half a surrogate pair, or too many levels.", "Write plain text and flat values.")


def _dataset(fields: JsonObject, findings: Findings) -> Dataset | None:
    if not _is_writable(fields):
        findings.error(*_NOT_WRITABLE, field="dataset")
        return None
    for mark in misplaced(without_roles(fields) | {"id": None}, _KNOWN_OF_DATASET):
        findings.error(mark.wrong, mark.mend, field=f"dataset.{shown(mark.path)}")
    if "canary" in fields and texts_of(fields["canary"]) is None:
        findings.error(*_WRONG_OF_DATASET["canary"], field="dataset.canary")
    if "opened_from" in fields:
        findings.error(*_WRONG_OF_DATASET["columns_read"], field="dataset.opened_from")
    try:
        dataset = Dataset.model_validate(fields)
    except ValidationError as error:
        for name in _field_names(error):
            message, mend = _WRONG_OF_DATASET.get(name, _NOT_TEXT)
            findings.error(message, mend, field=f"dataset.{name}")
        return None
    if is_blank(dataset.id):
        findings.error("It is blank.", "Give the corpus a name.", field="dataset.id")
    return dataset


def assemble_entry(raw: RawEntry, task: Task, findings: Findings) -> Entry | None:
    """Check the fields of one entry of this task, in our words; None where it is not usable."""
    fields = _without_empty(raw.fields, _KNOWN)
    where = raw.fields.get("id")
    spot = _Spot(findings, raw, where if isinstance(where, (int, str)) else raw.place)
    if len(fields) > MOST_FIELDS:
        spot.error(f"It has {len(fields):,} fields; {MOST_FIELDS:,} are read.", "Is this the right file?")
    elif not _is_writable(fields):
        spot.error(*_NOT_WRITABLE)
    else:
        for name, value in fields.items():
            # Towers of marks are refused before anything brings them into a normal form.
            if any(map(stacked, strings_in([name, value]))):
                what = f"More than {MOST_STACKED} combining marks are in a row, which no writing has."
                spot.error(what, "Take them out.", field=None if stacked(name) else name)
    if spot.noted:
        return None
    _tidy(fields)
    for mark in misplaced(fields, _KNOWN, task.data):
        spot.error(mark.wrong, mark.mend, field=shown(mark.path))
    _check_id(fields.get("id"), spot)
    if task.name != TRANSLATION:
        fields = _of_task(fields, task, spot)
    _check_texts(fields, task, spot)
    try:
        entry = Entry.model_validate(fields)
    except ValidationError as error:
        for name in _field_names(error):
            spot.wrong(name, fields.get(name))
        return None
    return None if spot.noted else entry


class _Spot:
    """Where in the file an entry stands."""

    def __init__(self, findings: Findings, raw: RawEntry, entry: int | str) -> None:
        self._findings = findings
        self._line = raw.line
        self._entry = entry
        self.noted: set[str | None] = set()
        """Fields that an error was noted of; one each is enough."""

    def error(self, message: str, mend: str, field: str | None = None) -> None:
        """Record an error at this entry."""
        if field in self.noted:
            return
        self.noted.add(field)
        self._findings.error(message, mend, line=self._line, entry=self._entry, field=field)

    def wrong(self, name: str, value: Json) -> None:
        """Record that a field has a value it must not have."""
        message, mend = _WRONG.get(name, _NOT_TEXT)
        if name == "segment" and isinstance(value, str):
            near = nearest(value, Segment)
            mend += f" Nearest: {near}." if near else ""
        self.error(message, mend, field=name)


def _check_id(value: Json, spot: _Spot) -> None:
    if value is None:
        spot.error("It has no id.", "Give every entry an id, or none.", field="id")
    elif isinstance(value, bool) or not isinstance(value, (int, str)):
        spot.wrong("id", value)
    elif isinstance(value, str) and is_blank(value):
        spot.error("The id is blank.", "Give it a number or a name.", field="id")
    elif isinstance(value, int) and abs(value) > _LARGEST_ID:
        spot.error("The number is too large.", "Write it as text in quotes.", field="id")


def _of_task(fields: JsonObject, task: Task, spot: _Spot) -> dict[str, Json]:
    """Check the fields of a task, and return them with the texts that follow from them."""
    made, wrong = complete(task.name, fields)
    for fault in wrong:
        spot.error(fault.message, f"{fault.mend} (task {task.name})", field=fault.field)
    if wrong:
        spot.noted |= sides_that_follow(task.name)
    for side, wanted in zip(SIDES, (task.wants_source, task.wants_reference), strict=True):
        if made.get(side) is None and not wanted:
            made[side] = ""
    return made


def _check_texts(fields: JsonObject, task: Task, spot: _Spot) -> None:
    """Check both sides, the tags that an envelope may say too, and that a difficulty is a number."""
    filled = task.wants_reference and not task.empty_reference
    for side in SIDES:
        text = fields.get(side)
        if text is None:
            spot.error("It is missing.", f"Give every entry a {side}.", field=side)
        elif not isinstance(text, str):
            spot.wrong(side, text)
        elif side == "reference" and filled and is_blank(text):
            spot.error("It is blank.", "Fill it in, or take the entry out.", field=side)
    for name in INHERITED:
        tag = fields.get(name)
        if tag is not None and not isinstance(tag, str):
            spot.wrong(name, tag)
        elif tag is not None and (wrong := wrong_tag(tag)) is not None:
            spot.error(*wrong, field=name)
    if isinstance(fields.get("difficulty"), (bool, str)):
        spot.wrong("difficulty", fields["difficulty"])


def _tidy(fields: dict[str, Json]) -> None:
    """Convert easy, medium, hard into tiers, and a provenance object into a record; both can be written again."""
    given = fields.get("difficulty")
    word = given.strip().lower() if isinstance(given, str) else ""
    if isinstance(given, float) and given.is_integer():
        fields["difficulty"] = int(given)
    elif word in TIER_OF_WORD:
        exact = fields.get(EXACT_TIER)
        if type(exact) is int and 1 <= exact <= 5:
            fields["difficulty"] = fields.pop(EXACT_TIER)
        else:
            fields["difficulty"] = TIER_OF_WORD[word]
            fields.setdefault(DIFFICULTY_WORD, given)
    if isinstance(fields.get("provenance"), dict):
        # It stands next to the tag, which the object does not name.
        fields[RECORD] = fields.pop("provenance")
        if "provenance_tag" in fields:
            fields["provenance"] = fields.pop("provenance_tag")


def _is_writable(fields: JsonObject) -> bool:
    try:
        return _UNWRITABLE.search("\n".join(strings_in(fields))) is None
    except ValueError:
        return False


def _field_names(error: ValidationError) -> list[str]:
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return list(dict.fromkeys(str(detail["loc"][0]) for detail in details))
