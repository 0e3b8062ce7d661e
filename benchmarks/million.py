"""A file of a million entries through ``run``, its seal and ``runs verify``: peak memory and time of each step.

Run from the repository: ``python -m benchmarks.million [ENTRIES …]``. Invented sentences as a JSONL file, copied by
``copy-source`` and scored with the surface metrics. The peak is the kernel's, of the whole process; what an entry adds
is told between one size and the next. Before a million, 10,000 and 50,000 entries show whether it is worth the hours.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.memory import METRICS, peak
from benchmarks.synthetic import Language

ENTRIES = 1_000_000
GOAL_MB = 600


def write(file: Path, entries: int) -> None:
    """Write a corpus line by line."""
    language = Language(1)
    envelope = {"id": "million", "version": "1", "source_language": "en", "target_language": "crk-Latn"}
    with file.open("w", encoding="utf-8") as lines:
        lines.write(json.dumps({"dataset": envelope}) + "\n")
        for number in range(1, entries + 1):
            reference = language.sentence()
            record = {
                "id": number,
                "source": language.noisy(reference),
                "reference": reference,
                "difficulty": number % 5 + 1,
            }
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")


def main() -> None:
    """Print a row for each step."""
    before: dict[str, tuple[int, int]] = {}
    for entries in [int(size) for size in sys.argv[1:]] or [ENTRIES]:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            corpus, card = folder / "corpus.jsonl", str(folder / "card.json")
            write(corpus, entries)
            steps = {
                "run and seal": ["run", str(corpus), "--method", "copy-source", "--quiet", *METRICS["surface"]],
                "export": ["runs", "export", "last", "-o", card],
                "verify": ["runs", "verify", "last"],
            }
            for step, arguments in steps.items():
                began = time.monotonic()
                mb, seconds, _ = peak(folder / "home", *arguments)
                fewer, less = before.get(step, (entries, mb))
                grows = f", {(mb - less) * 1000 / (entries - fewer):.2f} kB an entry more" if entries > fewer else ""
                goal = f" (goal ≤ {GOAL_MB} {'met' if mb <= GOAL_MB else 'MISSED'})" if entries >= ENTRIES else ""
                minutes = (time.monotonic() - began) / 60
                print(
                    f"{entries:>9,} {step:<12} {mb:>6,} MB{grows}; {seconds:,.0f} s of processor, {minutes:.1f} min{goal}",
                    flush=True,
                )
                before[step] = entries, mb


if __name__ == "__main__":
    main()
