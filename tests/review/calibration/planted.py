"""A corpus, outputs and ratings in which people mind words left in the source language, and little else."""

import json
import random
from pathlib import Path

SOURCE = [
    "the", "old", "dog", "sees", "a", "small", "white", "horse", "near", "our", "green", "house",
    "today",
]  # fmt: skip
TARGET = [
    "la", "maljuna", "hundo", "vidas", "malgrandan", "blankan", "ĉevalon", "apud", "nia", "verda",
    "domo", "hodiaŭ",
]  # fmt: skip
WRONG = ["tablo", "vento", "monto", "pluvo", "libro", "akvo", "fiŝo", "nokto"]


def write_case(folder: Path, entries: int, seed: int = 1, *, systems: int = 1) -> list[Path]:
    """Write ``corpus.jsonl`` and ``ratings.csv`` of three people with the ids of a spreadsheet (1.0), and return the files of outputs."""
    chance = random.Random(seed)
    texts = [_texts(chance) for _ in range(entries)]
    _write(folder / "corpus.jsonl", [{"id": i, "source": s, "reference": t} for i, (s, t) in enumerate(texts)])
    ratings, files = [], []
    for system in range(systems):
        rows: list[dict[str, object]] = []
        for i, (source, reference) in enumerate(texts):
            left = chance.randrange(0, 5 + system)
            rows.append({"id": i, "output": _spoilt(chance, source, reference, left)})
            ratings += [
                {
                    "entry_id": float(i),
                    "rating": max(0, min(3, round(3.4 - 0.9 * left + chance.gauss(0, 0.4)))),
                    "reviewer": f"R{person}",
                    "run": f"system-{system}",
                }
                for person in range(3)
            ]
        files.append(folder / f"system-{system}.jsonl")
        _write(files[-1], rows)
    _write(folder / "ratings.jsonl", ratings)
    header = "entry_id,rating,reviewer,run"
    lines = [",".join(str(row[name]) for name in header.split(",")) for row in ratings]
    (folder / "ratings.csv").write_text("\n".join([header, *lines]) + "\n", "utf-8")
    return files


def _texts(chance: random.Random) -> tuple[str, str]:
    places = chance.sample(range(len(SOURCE)), 10)
    return " ".join(SOURCE[place % len(SOURCE)] for place in places), " ".join(
        TARGET[place % len(TARGET)] for place in places
    )


def _spoilt(chance: random.Random, source: str, reference: str, left: int) -> str:
    """Put wrong words, which nobody minds here, and ``left`` words of the source into a translation."""
    words = reference.split()
    for place in chance.sample(range(10), chance.randrange(0, 6)):
        words[place] = chance.choice(WRONG)
    for place in chance.sample(range(10), left):
        words[place] = source.split()[place]
    return " ".join(words)


def _write(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
