"""The briefing of a model: the system prompt of the run, and the message for one or several texts.

Several texts in one call, keyed by number, so that no entry can receive another's translation.

Both ways the texts go as a JSON object keyed by number. Line forms cannot tell a skipped number from
a text of several lines; in JSON a missing, doubled or invented key is plain to see.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from corpora.text.model_reply import answer_text, mended_json
from harness.core.failures import UsageError
from harness.core.storage_problems import storable
from harness.inputs.coaching import Coaching, read_coaching
from harness.inputs.prompt import Prompt, load_prompt
from harness.method.completions import Message
from harness.method.options import MethodOptions


def numbered(texts: Sequence[str]) -> str:
    """Write the texts as a JSON object with the keys 1 … n."""
    return json.dumps(
        {str(number): text for number, text in enumerate(texts, 1)}, ensure_ascii=False, indent=0
    )


def by_number(reply: str, count: int) -> list[str | None]:
    """Read the texts 1 … count out of a reply; None where a number cannot be trusted.

    Order does not matter, the number does. A number that is missing between others, doubled, or has
    no text costs only its own entry. But an invented number, or a last number that is missing, is how
    it looks when the model split or joined texts and shifted the rest: then none is trusted.
    """
    pairs = _pairs(reply)
    times = Counter(number for number, _ in pairs)
    if times.keys() - set(range(1, count + 1)) or count not in times:
        return [None] * count
    texts: list[str | None] = [None] * count
    for number, text in pairs:
        if times[number] == 1 and isinstance(text, str):
            texts[number - 1] = storable(text).strip()
    return texts


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object, doubled keys included."""


def _pairs(reply: str) -> list[tuple[int, Any]]:
    """Read the outermost JSON object, with words before and after it or not; [] where there is none.

    A key that is not a number becomes 0, which no text has: it counts as invented.
    """
    text = answer_text(reply) or ""
    first, last = text.find("{"), text.rfind("}")
    try:
        members = _members(text[first : last + 1])
    except (ValueError, RecursionError):
        return []
    if not isinstance(members, _Pairs):
        return []
    return [(_number(key), value) for key, value in members]


def _members(text: str) -> Any:
    """Decode JSON that a model wrote, with raw line breaks in its texts, comments and last commas or not."""
    decode = partial(json.loads, strict=False, object_pairs_hook=_Pairs)
    try:
        return decode(text)
    except ValueError:
        return decode(mended_json(text))


def _number(key: str) -> int:
    plain = key.isascii() and key.isdigit() and len(key) < 6
    return int(key) if plain else 0


@dataclass(frozen=True, slots=True)
class Briefing:
    """The system prompt, the same for all calls of a run, and what goes into each message."""

    system: str
    version: str
    """Versions of all the prompts it was put together from."""
    coaching: Coaching | None = None

    @property
    def sha256(self) -> str:
        """Hash of the system prompt as it is sent, in UTF-8."""
        return hashlib.sha256(self.system.encode()).hexdigest()

    def single(self, source: str) -> list[Message]:
        """Start a conversation about one text, which stands alone in its message where it can."""
        return self._conversation(source + self._hints([source]))

    def batch(self, sources: Sequence[str]) -> list[Message]:
        """Start a conversation about several texts, keyed by number."""
        return self._conversation(numbered(sources) + self._hints(sources))

    def _hints(self, sources: Sequence[str]) -> str:
        return self.coaching.hints(sources) if self.coaching else ""

    def _conversation(self, message: str) -> list[Message]:
        return [
            {"role": "system", "content": self.system},
            {"role": "user", "content": message},
        ]


def briefing(options: MethodOptions, *additions: str) -> Briefing:
    """Assemble a briefing from prompt, coaching file and additional shipped prompts.

    UsageError where the coaching data would go nowhere, or the prompt waits for some in vain.
    """
    coaching = read_coaching(options.coaching) if options.coaching else None
    main = load_prompt(options.prompt or ("coached-v1" if coaching else "plain-v1"))
    _fits(main, coaching, options.coaching)
    values = options.languages | (coaching.slots() if coaching else {})
    prompts = [main, *map(load_prompt, additions)]
    return Briefing(
        system="\n\n".join(prompt.fill(values) for prompt in prompts),
        version="+".join(prompt.version for prompt in prompts),
        coaching=coaching,
    )


def _fits(prompt: Prompt, coaching: Coaching | None, path: Path | None) -> None:
    """Ensure that what the run card calls coached is coached, and nothing else is."""
    if coaching is None:
        if prompt.slots & {"notes", "examples"}:
            raise UsageError(
                f"Prompt {prompt.version!r} has slots for coaching. Give --coaching FILE."
            )
        return
    for name, given in (("notes", coaching.notes), ("examples", coaching.examples)):
        if given and name not in prompt.slots:
            raise UsageError(
                f"{path}: the {name} would not be used: prompt {prompt.version!r} has no slot "
                f"{{{name}}}. Put it there, or leave --prompt out."
            )
