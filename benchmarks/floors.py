"""Worthless methods on every corpus available: none may claim more than baseline, references must reach fluent.

References in destroyed order may claim no more than emerging, unless the order of words is free in the language.

Run from the repository: ``python -m benchmarks.floors [--only NAME]``. The corpora are those of the tests;
where ``ROSETTA_TEST_DATA`` names no folder with the outside data, that is the demo alone. The Cree
entries are made of words that the real analysers accept; in the corpora named *unknown words* about 28 %
of the words of the references are such as no analyser knows, as in human texts.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from corpora.model.entry import Entry
from harness.setup.scoring_options import ScoringOptions
from harness.setup.scoring_tools import ScoringTools
from scoring.card.claim import FloorScores
from scoring.card.constant import spread
from scoring.card.floors import FloorWork, derangement, joined
from scoring.card.scorecard import RunScores, scorecard
from scoring.core.inventory import composite
from scoring.core.setup import Translation
from scoring.core.specification import Tier, specification
from scoring.words.reading import reader
from tests.harness import guarded_corpora as given

SUBSETS = (60, 100, 150, 199, 250, 400)
"""Entries of the Cree corpora; below 200 pairs hallucination is off."""

UNANALYSED = tuple(
    id_ for id_ in specification().metrics if id_ not in {"fst_acceptance_rate", "morphological_accuracy"}
)
"""Metrics of a run without analyser."""


@dataclass(frozen=True)
class Case:
    """One corpus with everything that a run over it is scored with, and its floors."""

    name: str
    found: ScoringTools
    floors: dict[str, FloorScores]

    @classmethod
    def of(cls, name: str, found: ScoringTools) -> Case:
        """Work the floors out."""
        entries = found.resources.entries
        return cls(name, found, FloorWork(entries, found.scorer.metrics, annotate=found.annotated).finish())

    @property
    def entries(self) -> Sequence[Entry]:
        """The entries of the corpus."""
        return self.found.resources.entries

    def judged(self, outputs: Sequence[str]) -> RunScores:
        """Score outputs as a run does."""
        pairs = zip(self.entries, outputs, strict=True)
        given = self.found.annotated([Translation(*pair) for pair in pairs])
        return scorecard(
            self.entries,
            self.found.scorer.statistics(given),
            [not text for text in outputs],
            self.found.scorer,
            outputs,
            known_floors=self.floors,
        )


Method = Callable[[Case, random.Random], list[str]]


def _numbered(case: Case, choice: random.Random) -> list[str]:
    text = _best_of(case, choice, 25)
    return [f"{text} {place}" for place, _ in enumerate(case.entries)]


def _in_turn(case: Case, choice: random.Random) -> list[str]:
    texts = choice.sample([entry.reference for entry in case.entries], 3)
    return [texts[place % 3] for place, _ in enumerate(case.entries)]


def _best_of(case: Case, choice: random.Random, number: int) -> str:
    """Return the best constant by composite of some references at random, tried on entries spread evenly."""
    tried, scorer = spread(case.entries, 60), case.found.scorer
    references = [entry.reference for entry in case.entries]

    def reaches(text: str) -> float:
        given = case.found.annotated([Translation(entry, text) for entry in tried])
        return composite(scorer.table(scorer.statistics(given)).corpus_values()).value or 0.0

    return max(choice.sample(references, min(number, len(references))), key=reaches)


def _valid(case: Case) -> list[str]:
    """Return the words of all references that the analyser accepts, every one where there is none."""
    nothing = case.found.annotated([Translation(entry, "") for entry in case.entries])
    known = [
        word.word
        for each in nothing
        if (annotation := each.annotations.get("fst")) is not None
        for word in annotation.reference
        if word.accepted is not None
    ]
    return known or _all_words(case)


def _all_words(case: Case) -> list[str]:
    return [word for entry in case.entries for word in reader().read(entry.reference).written]


def _some_words(number: int | None, *, valid: bool) -> Method:
    """Make a method that gives some words at random, as many as the reference has where None."""

    def method(case: Case, choice: random.Random) -> list[str]:
        words = _valid(case) if valid else _all_words(case)
        return [
            joined(choice.choices(words, k=number or len(reader().read(entry.reference).written)))
            for entry in case.entries
        ]

    return method


def _frequent(case: Case, choice: random.Random) -> list[str]:
    words = [word for word, _ in Counter(_all_words(case)).most_common(20)]
    return [joined(choice.sample(words, min(6, len(words)))) for _ in case.entries]


def _inflected(case: Case, choice: random.Random) -> list[str]:
    """Put the endings of target words behind the words of the source."""
    endings = [word[-2:] for word in _all_words(case)]
    return [" ".join(word[:4] + choice.choice(endings) for word in entry.source.split()) for entry in case.entries]


def _shuffled(case: Case, choice: random.Random) -> list[str]:
    places = derangement(len(case.entries), choice.randrange(10**6))
    return [case.entries[place].reference for place in places]


METHODS: dict[str, Method] = {
    "empty": lambda case, _: [""] * len(case.entries),
    "copy": lambda case, _: [entry.source for entry in case.entries],
    "copy, word order turned": lambda case, _: [" ".join(reversed(entry.source.split())) for entry in case.entries],
    "constant": lambda case, choice: [choice.choice(case.entries).reference] * len(case.entries),
    "shortest constant": lambda case, _: (
        [min((entry.reference for entry in case.entries), key=len)] * len(case.entries)
    ),
    "best constant of 25": lambda case, choice: [_best_of(case, choice, 25)] * len(case.entries),
    "constant with a number": _numbered,
    "three constants in turn": _in_turn,
    "one valid word": _some_words(1, valid=True),
    "two valid words": _some_words(2, valid=True),
    "as many valid words": _some_words(None, valid=True),
    "word salad": _some_words(None, valid=False),
    "most frequent words": _frequent,
    "shuffled references": _shuffled,
    "references backwards": lambda case, _: [entry.reference for entry in [*case.entries[1:], case.entries[0]]][::-1],
    "source words inflected": _inflected,
    "first word of the source": lambda case, _: [entry.source.split()[0] for entry in case.entries],
}
"""Seventeen methods without any translation in them."""


def _each(change: Callable[[list[str], random.Random], list[str]]) -> Method:
    """Make a method that changes the words of each reference."""
    return lambda case, choice: [" ".join(change(entry.reference.split(), choice)) for entry in case.entries]


DISORDERED: dict[str, Method] = {
    "words reversed": _each(lambda words, _: words[::-1]),
    "words shuffled": _each(lambda words, choice: choice.sample(words, len(words))),
    "neighbours swapped": _each(
        lambda words, _: [word for at in range(0, len(words), 2) for word in words[at : at + 2][::-1]]
    ),
    "three words reversed": _each(
        lambda words, _: [word for at in range(0, len(words), 3) for word in words[at : at + 3][::-1]]
    ),
}
"""The right words of each reference in destroyed order."""


@dataclass(frozen=True)
class Row:
    """What one method reaches on one corpus."""

    corpus: str
    method: str
    composite: float
    chrf: float
    claim: str
    above: bool

    @classmethod
    def of(cls, case: Case, method: str, scores: RunScores, most: Tier) -> Row:
        """Take it from the scores; ``most`` is the highest tier that the method may claim."""
        return cls(
            case.name,
            method,
            scores.composite or 0.0,
            scores.chrf_plus_plus or 0.0,
            scores.claim.words(),
            scores.claimable_tier.rank > most.rank,
        )


def rows_of(case: Case, seed: int = 4) -> Iterator[Row]:
    """Yield what each method reaches on a corpus."""
    for name, method in METHODS.items():
        yield Row.of(case, name, case.judged(method(case, random.Random(seed))), Tier.BASELINE)


def disordered_rows_of(case: Case, seed: int = 4) -> Iterator[Row]:
    """Yield what references in destroyed order reach; nothing where order is free or words have no spaces."""
    spaced = any(" " in entry.reference for entry in case.entries) and not case.name.startswith("jpn")
    for name, method in DISORDERED.items() if spaced and not case.found.scorer.free_word_order else ():
        yield Row.of(case, name, case.judged(method(case, random.Random(seed))), Tier.EMERGING)


def references_of(case: Case) -> RunScores:
    """Score the references as outputs."""
    return case.judged([entry.reference for entry in case.entries])


def without_analyser(scores: RunScores) -> float:
    """Return the composite apart from the share of the analyser, which does not know all human words."""
    kept = [part for part in scores.composite_inputs if part.metric != "fst_acceptance_rate"]
    return sum(part.weight * part.normalised for part in kept) / sum(part.weight for part in kept)


def cases(only: str = "") -> Iterator[Case]:
    """Yield every corpus available whose name holds ``only``."""
    at_hand = given.TEXTS.exists() and given.STRICT.exists()
    for name in given.CORPORA if at_hand else ["demo"]:
        for analyser, options in (("", None), (", no analyser", ScoringOptions(metrics=UNANALYSED))):
            full = f"{name}{analyser}"
            if only in full and not (analyser and name not in {"demo", "cree"}):
                yield Case.of(full, given.tools(name, options))
    for number in SUBSETS if at_hand else ():
        for unknown in (0.0, 0.28):
            for path in (given.STRICT, given.DESCRIPTIVE):
                kind = path.name.split("-")[1]
                words = "unknown words" if unknown else "known words"
                full = f"crk {number}, {kind}, {words}"
                if only in full:
                    yield Case.of(full, given.cree(number, path, unknown))


def main() -> None:
    """Print a table, and exit 1 where a method claims more than it may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="corpora whose name holds this")
    told = parser.parse_args()
    claims, number, low = 0, 0, 0
    disordered = 0
    print(f"{'corpus':<40} {'best worthless method':<28} comp. chrF++  floors        references")
    for case in cases(told.only):
        rows = list(rows_of(case))
        best = max(rows, key=lambda row: row.composite)
        perfect = references_of(case)
        number += len(rows)
        claims += sum(row.above for row in rows)
        low += perfect.quality_tier is not Tier.FLUENT
        known = [floor.composite or 0.0 for floor in case.floors.values()]
        beside = [floor.chrf_plus_plus or 0.0 for floor in case.floors.values()]
        print(
            f"{case.name:<40} {best.method:<28} {best.composite:5.2f} {best.chrf:6.1f}"
            f"  {max(known):.2f}, {max(beside):4.1f}   {perfect.claim.quality_tier}"
            f" {perfect.composite:.2f} ({without_analyser(perfect):.2f} without the analyser's share)"
        )
        turned = list(disordered_rows_of(case))
        disordered += len(turned)
        claims += sum(row.above for row in turned)
        for row in (*rows, *turned):
            if row.above:
                print(f"    CLAIMS {row.method}: {row.claim}")
        if perfect.claim.caveats:
            print(f"    REFERENCES have caveats: {perfect.claim.words()}")
    print(
        f"{number} worthless outputs and {disordered} in destroyed order: {claims} claims above baseline or emerging; "
        f"{low} corpora whose references are not fluent with the analyser's share"
    )
    raise SystemExit(claims > 0)


if __name__ == "__main__":
    main()
