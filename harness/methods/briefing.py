"""What a model is told: the system prompt of the run, and the message for one or several texts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.core.failures import UsageError
from harness.inputs.coaching import Coaching, read_coaching
from harness.inputs.prompt import Prompt, load_prompt
from harness.method.options import MethodOptions
from harness.methods.batching import numbered
from harness.methods.completions import Message


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
        """Begin a conversation about one text, which stands alone in its message where it can."""
        return self._conversation(source + self._hints([source]))

    def batch(self, sources: Sequence[str]) -> list[Message]:
        """Begin a conversation about several texts, keyed by number."""
        return self._conversation(numbered(sources) + self._hints(sources))

    def _hints(self, sources: Sequence[str]) -> str:
        return self.coaching.hints(sources) if self.coaching else ""

    def _conversation(self, message: str) -> list[Message]:
        return [
            {"role": "system", "content": self.system},
            {"role": "user", "content": message},
        ]


def briefing(options: MethodOptions, *additions: str) -> Briefing:
    """Put a briefing together from prompt, coaching file and additional shipped prompts.

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
    """See to it that what the run card calls coached is coached, and nothing else is."""
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
