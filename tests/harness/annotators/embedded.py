"""Embeddings that can be told beforehand."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.annotators.annotator import AskingAnnotator
from harness.endpoint.budget import Ledger
from harness.endpoint.limiter import RetryPolicy
from harness.run.asking import Asking
from harness.setup.plan import RunOptions
from scoring.core.translation import Translation
from tests.harness.scripted import Answer, Asked, json_answer


class Kept(dict[str, bytes]):
    """A memo of one maker in memory."""

    def recall(self, maker: str, keys: Sequence[str] | None = None) -> dict[str, bytes]:
        return {
            key: value for key in (keys or ()) if (value := self.get(f"{maker} {key}")) is not None
        }

    def keep(self, maker: str, found: Mapping[str, bytes]) -> None:
        self.update({f"{maker} {key}": value for key, value in found.items()})


class Blocking:
    """An annotator whose calls are carried without a run."""

    def __init__(self, annotator: AskingAnnotator, policy: RetryPolicy | None = None) -> None:
        self.annotator = annotator
        self.asking = Asking(RunOptions(), Ledger(None))
        self.asking.policy = policy or self.asking.policy

    def annotate(self, translations: Sequence[Translation]) -> list[Any]:
        return self.asking(self.annotator, translations)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.annotator, name)


def vector(text: str, size: int = 4) -> list[float]:
    """Letters counted into a few numbers: equal texts are near, different ones less so."""
    counts = [0.5] * size
    for letter in text:
        counts[ord(letter) % size] += 1
    return counts


def embedded(asked: Asked, of: Callable[[str], list[float]] = vector) -> Answer:
    items = [{"index": at, "embedding": of(text)} for at, text in enumerate(asked.body["input"])]
    return json_answer({"data": items[::-1], "model": "m", "usage": {"prompt_tokens": 3}})
