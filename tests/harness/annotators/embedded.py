"""Embeddings that can be told beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tests.harness.scripted import Answer, Asked, json_answer


class Kept(dict[str, bytes]):
    """A memo of one maker in memory."""

    def recall(self, maker: str, keys: Sequence[str] | None = None) -> dict[str, bytes]:
        return {
            key: value for key in (keys or ()) if (value := self.get(f"{maker} {key}")) is not None
        }

    def keep(self, maker: str, found: Mapping[str, bytes]) -> None:
        self.update({f"{maker} {key}": value for key, value in found.items()})


def vector(text: str, size: int = 4) -> list[float]:
    """Letters counted into a few numbers: equal texts are near, different ones less so."""
    counts = [0.5] * size
    for letter in text:
        counts[ord(letter) % size] += 1
    return counts


def embedded(asked: Asked, of: Callable[[str], list[float]] = vector) -> Answer:
    items = [{"index": at, "embedding": of(text)} for at, text in enumerate(asked.body["input"])]
    return json_answer({"data": items[::-1], "model": "m", "usage": {"prompt_tokens": 3}})
