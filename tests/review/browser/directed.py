"""The sittings of ``directed.txt``, to be played."""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from review.files.batch import Batch
from review.files.manifests import InLanguage, OthersWords, SentenceContext
from review.log.payloads import MOST_TEXT
from review.rating import Rating, Reason
from tests.review.browser.scripts import TEXTS, Play
from tests.review.session.scenes import batch_of, item_id, items_of, sentences_of, training_of

PASSPHRASE = "fobab fobab fobab"
_TOKEN = re.compile(r'\{[^}]*\}|"(?:\\.|[^"\\])*"|;|[^\s;]+')
_ITEM = re.compile(r"([@#])(L?)(\d+)(?:-(\d+))?")
_GIVEN = {"fr-CA": "Nous", "eo": "Jes", "iu-Latn": "ii", "tlh": " "}
_WITHOUT_ITEM = {"undo", "go_on", "touched"}


def _sittings() -> dict[str, tuple[str, str]]:
    """Return name → its batches with options, and its steps."""
    text = Path(__file__).with_name("directed.txt").read_text("utf-8").partition("\n\n")[2]
    blocks = re.findall(r"^(\w+) \| (.*)\n((?: {4}.*\n)+)", text, re.MULTILINE)
    return {name: (head, " ".join(steps.split())) for name, head, steps in blocks}


DIRECTED = _sittings()


def directed(folder: Path, patch: pytest.MonkeyPatch, name: str) -> Play:
    """Play a sitting."""
    head, steps = DIRECTED[name]
    specs = [[word.partition("=")[::2] for word in part.split()] for part in head.split(" | ")]
    batches = [
        (kind[0], int(count[0]), dict(words)) for kind, count, *words in (spec for spec in specs if not spec[0][1])
    ]
    options = {name: json.loads(value) for spec in specs if spec[0][1] for name, value in spec}
    passphrases = [PASSPHRASE if "secret" in words else None for *_, words in batches]
    play = Play(folder, patch, [_batch(*batch) for batch in batches], passphrases, **options)
    for act, arguments, wait in _steps(steps):
        play.do(act, *arguments, wait=wait)
    return play


def _batch(kind: str, count: int, options: dict[str, str]) -> Batch:
    items = (sentences_of if kind == "translated" else items_of)(count)
    if "others" in options:
        others = (OthersWords(comment="They said so."), OthersWords(reasons=(Reason.ADDED, Reason.MISSING)))
        around = SentenceContext(context="a greeting", after="After.")
        items = [item.model_copy(update={"around": around, "others": others}) for item in items]
    training = training_of([Rating(rating) for rating in options.get("training", "").split(",") if rating])
    added: dict[str, Any] = {"looks": 0, "salt": bytes(range(32))} if kind == "later" else {}
    if "explained" in options:
        explained = {"crk": "Wiya", "fr-CA": " Parce que. "}
        training = [item.model_copy(update={"explanations": explained}) for item in training]
    if "given" in options:
        added["translations"] = {tag: InLanguage(consent=text) for tag, text in _GIVEN.items()}
    if "second_of" in options:
        added["second_of"] = options["second_of"] * 8
    return batch_of(
        items, training, batch=options.get("batch", "ba") * 8, task="translate" if kind == "translated" else "rate",
        language=options.get("language", "en"), consent=options.get("consent", "We ask you.").replace("_", " "), secret="secret" in options,
        title="E\u0301 / \u14c2!" if "title" in options else "Spring",
        policy_sha256=sha256(b"").hexdigest() if "policy" in options else "0" * 64, **added,
    )  # fmt: skip


def _steps(text: str) -> Iterator[tuple[str, list[Any], float]]:
    for words in _split(_TOKEN.findall(text)):
        act, _, times = words[0].partition("*")
        wait = float(words.pop()) if words[-1][0] in "+-" else 1.0
        for _ in range(int(times or 1)):
            yield from _step(act, words[1:], wait)


def _split(tokens: list[str]) -> Iterator[list[str]]:
    while tokens:
        end = tokens.index(";") if ";" in tokens else len(tokens)
        yield tokens[:end]
        del tokens[: end + 1]


def _step(act: str, words: list[str], wait: float) -> Iterator[tuple[str, list[Any], float]]:
    named = _ITEM.fullmatch(words[0]) if words else None
    if named is None:
        yield act, [_value(word) for word in words], wait
        return
    mark, practice, first, last = named.groups()
    for number in range(int(first), int(last or first) + 1):
        item = item_id(number + (0xE000 if practice else 0))
        if mark == "@":
            yield "painted", [item], 0.0
        yield act, [*([] if act in _WITHOUT_ITEM else [item]), *map(_value, words[1:])], wait


def _value(word: str) -> Any:
    if word == "$long":
        return "x" * (MOST_TEXT + 1)
    if word[0] == "$":
        return TEXTS[int(word[1:])]
    if word[0] == "{":
        return json.loads(word)
    if word[0] == "[":
        return [name for name in word[1:-1].split(",") if name]
    return json.loads(word) if re.fullmatch(r'".*"|-?[\d.]+|true|false|null', word) else word
