"""What it costs that a store seals texts of secret entries: a run over 2,000 of them, against the same run over open ones.

Run from the repository: ``python -m benchmarks.vault``. The same synthetic entries and outputs three times: of an open
segment, of a secret one (sealed in the store for this computer), and from a vault. Processor time of each whole process,
from exec to exit, in turns, the best of several rounds, each in an empty data folder; with the surface metrics only, where
storing is the largest part of a run, and with all that need no analyser.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from benchmarks.end_to_end import cpu_seconds, write
from benchmarks.run_live import SURFACE

ENTRIES = 2_000
GOAL = 1.1
ROUNDS = 3
_CALL = "from rosetta_tui.cli import main; main()"
_NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
"""Keys are in files then, so that no keyring of the machine is asked."""

Kinds = dict[str, tuple[Path, list[str]]]
"""Name → the data folder that the runs of this kind begin with, and what they are told of their corpus."""


def main() -> None:
    """Print the processor seconds of each kind and its ratio to the open one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus, outputs = write(folder, ENTRIES)
        kinds = prepare(folder, corpus)
        for what, metrics in (("surface metrics", ["--metrics", SURFACE]), ("all metrics", [])):
            best = race(folder, kinds, ["-m", "replay", "--outputs", str(outputs), "--plain", *metrics])
            ratio = best["sealed"] / best["open"]
            print(
                f"{ENTRIES:,} entries, {what}: sealed {best['sealed']:.2f} s, open {best['open']:.2f} s, ratio {ratio:.2f}, "
                f"goal {GOAL:g} {'met' if ratio <= GOAL else 'MISSED'}; from a vault {best['vault']:.2f} s, "
                f"ratio {best['vault'] / best['open']:.2f}"
            )


def prepare(folder: Path, corpus: Path) -> Kinds:
    """Write the corpus as an open and as a secret one, and put it into a vault."""
    secret = folder / "secret.json"
    held = json.loads(corpus.read_text("utf-8"))
    for entry in held["entries"]:
        entry["segment"] = "gold_standard"
    secret.write_text(json.dumps(held), "utf-8")
    empty, keeper, vault = (folder / each for each in ("empty", "keeper", "vault"))
    empty.mkdir(mode=0o700)
    key = str(folder / "recovery-key.txt")
    rosetta(keeper, ["vault", "init", str(vault), "--name", "made", "--as", "Office", "--recovery", key])
    rosetta(keeper, ["vault", "add", str(vault), str(secret), "--name", "made"])
    opening = ["--vault", str(vault), "--purpose", "a measurement", "--despite-network", "made-up sentences"]
    return {"open": (empty, [str(corpus)]), "sealed": (empty, [str(secret)]), "vault": (keeper, ["made", *opening])}


def race(folder: Path, kinds: Kinds, told: list[str]) -> dict[str, float]:
    """Return the best processor seconds of each kind."""
    best = dict.fromkeys(kinds, float("inf"))
    for _ in range(ROUNDS):
        for kind, (begins_with, corpus) in kinds.items():
            home = folder / "home"
            shutil.rmtree(home, ignore_errors=True)
            shutil.copytree(begins_with, home)
            best[kind] = min(best[kind], rosetta(home, ["run", *corpus, *told]))
    return best


def rosetta(home: Path, words: list[str]) -> float:
    """Run a command; gives its processor seconds."""
    return cpu_seconds(["-P", "-c", _CALL, *words], {"ROSETTA_HOME": str(home), **_NO_KEYRING})


if __name__ == "__main__":
    main()
