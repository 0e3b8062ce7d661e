"""Writes the page of metrics from the tables of the specification: ``python -P docs/make_metrics.py``."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

from scoring.core.packs import Pack, shipped_packs
from scoring.core.specification import InventoryRow, Specification, specification

PAGE = Path(__file__).parent / "metrics.md"

HEAD = """\
# Metrics

This page is written by `docs/make_metrics.py` from `scoring/core/specification.toml` and the tables of the packs, the one place where ids, ranges,
weights and thresholds stand; a test fails where the two differ. How scores are put together, and what a missing
value does, is in [scores.md](scores.md). First come the metrics of the scoring specification, then the [packs](#packs).

## How to read the tables

* **scale**: lowest and highest value. *higher* means that more is better, *neither* that no end is.
* **level**: *both* where an entry has its own value, *corpus* where only all entries together have one.
* **status**: *implemented*; *partial* with what it lacks; *absent* where nothing computes it.
* **needs**: what you must have before the metric can have a value. Without it the value is null, with the reason next to it on
  the card and on the screen, and the composite is formed without it.
* **interval**: whether the value of a run has a 95 % bootstrap interval. The composite has one too, from the same draws.
  Wilson's interval is next to it for `exact_match_rate` and `equivalent_match_rate` only. It takes every case for independent of the others,
  which entries may be and the words or terms of one entry are not: for a share of words it would be too narrow. The bootstrap draws whole
  entries and allows for that.
* **composite**: the weight in profile A (the FST metric has a value) and in profile B (it has none), or why the metric stays outside.

## What a number may be used for

Every metric is computed by a machine and stands for something that only people can judge. Tiers are labels on the composite, not
verdicts: until speakers have reviewed the outputs a run may claim *functional* at most. Read a composite beside its floors, that is
what empty, copied, constant, shuffled, truncated and random outputs get on the same entries: a run whose intervals of chrF++ and
composite do not both clear the best floor claims *baseline*. A run of which a part fails claims less, and says so. Two composites compare only where they were formed from the same metrics.

Acceptance by an analyser is not quality: a strict analyser rejects many words of good human writing, so the acceptance of the
references always is next to that of the outputs.

A prescribed term applies to an entry where it is in the source and the reference or one of its variants renders it as prescribed. Where
none of them does, the word has another sense there and the dictionary is wrong for the sentence: the term counts neither for nor against an
output, whatever the output says. With an analyser a rendering counts in every form of its lemma, else with the endings of the language card.

`morphological_accuracy` leaves numbers and punctuation of a gold analysis (`3+Num`, `.+CLB`) out and counts them as left out: no analyser is
asked for those of an output. `orthographic_accuracy` lets letters of names and loan words pass in words that begin with a capital, in the card's
loan words, and in words that the references or the entry's source have; elsewhere they are wrong, or any language of the same script would pass.

`hallucination_rate` counts the content words of an output that stand neither in the reference nor in a variant (by their first five letters),
and that no known word pair links to the source. Word pairs come from the coaching dictionary and, from 200 development entries on, from an
alignment learned of them. A small dictionary links next to nothing, and every free translation would look made up: without the alignment the
metric is off unless the dictionary knows a quarter of the running content words of the run's sources. A word that is counted is not thereby
wrong: it can be another form of a right word, or a good word that reference and dictionary do not have.

`repair_effectiveness` needs first answers beside the outputs. In a run where none is known it is null: outputs that were made elsewhere and
handed in without them, a method that repairs nothing.

## Where fewer words can score more

A missing word should never pay. The formulas of the specification keep to that in most cases, not in all:

* `fst_acceptance_rate`, `orthographic_accuracy`, `code_switching_rate` and `hallucination_rate` are shares of the output's own words. An output
  that leaves out a word which the metric holds against it rises on that metric, though it says less; a right word which the analyser does not
  know lowers the acceptance. chrF++, semantic score and the matches pull the other way.
* An output without any word has no code-switching and no hallucination rate; the metrics that it has then weigh more. All of those are 0
  for an empty output.
* `ter` of an empty output is 100; an output with many wrong words lies above that. It equals sacreBLEU's, with one exception: where output
  and reference have more than 10,000 pairs of words (about 100 words each) and lie so far apart that sacreBLEU's search leaves its beam, we
  search without a beam, with the same limits on shifts. sacreBLEU takes up to half a minute for such an entry.
* `compliance_index` looks at what is kept, not at what is said: an output of nothing but the source's variables keeps to everything.
"""


PACKS = """\
## Packs

A pack is a system of metrics beside the specification's, with a document and its own version. None of its metrics is part of the composite, of tiers
or of claims. `--metrics rosetta,lbrag` names all of a pack, `--metrics lbrag.f1` one of its metrics; without the option a run is scored by the pack of its
corpus's task. [packs.md](internals/packs.md) says where a pack differs from the code that was published for it, and [plugins.md](plugins.md) how to make one.
"""


def page() -> str:
    """Return the whole page."""
    tables = specification()
    parts = [HEAD]
    for category, group in groupby(tables.metrics.items(), key=lambda item: item[1].category):
        rows = dict(group)
        parts.append(f"## {category.capitalize()} metrics\n\n{_inventory(rows, tables)}")
    parts.append(f"## Composite\n\n{_weights(tables)}")
    parts.append(f"## Tiers\n\n{_tiers(tables)}")
    parts.append(PACKS)
    parts += [_pack(pack, tables) for pack in shipped_packs()]
    return "\n".join(parts)


def _pack(pack: Pack, tables: Specification) -> str:
    """Return the section of a pack."""
    told = "".join(f"* `{id_}`: {row.what}\n" for id_, row in pack.rows.items())
    by_task = any(row.tasks for row in pack.rows.values())
    heads = ["id", "scale", "direction", "level", "status", "needs", "computed with", "interval"]
    table = _table(*heads, *(["task"] if by_task else []))
    for id_, row in pack.rows.items():
        task = [", ".join(row.tasks) or "all of these"] if by_task else []
        table += _cells(*_facts(id_, row, {**tables.needs, **pack.needs}), *task)
    return (
        f"### {pack.title}: `{pack.name}`\n\n"
        f"Version {pack.version}, by {pack.document}. Without `--metrics` it scores {', '.join(pack.tasks)}.\n\n"
        f"{told}\n{table}"
    )


def _inventory(rows: dict[str, InventoryRow], tables: Specification) -> str:
    told = "".join(f"* `{id_}`: {row.what}\n" for id_, row in rows.items())
    table = _table(
        "id", "scale", "direction", "level", "status", "needs", "computed with", "interval", "composite"
    )  # fmt: skip
    for id_, row in rows.items():
        table += _cells(*_facts(id_, row, tables.needs), _composite(id_, row, tables))
    return f"{told}\n{table}"


def _facts(id_: str, row: InventoryRow, needs: Mapping[str, str]) -> tuple[str, ...]:
    return (
        f"`{id_}`",
        row.scale.split(",")[0],
        "1 is ideal" if row.info.one_is_ideal else row.info.better,
        row.level,
        f"{row.status}: {row.lacks}" if row.lacks else row.status,
        "; ".join(needs[need] for need in row.needs),
        row.library,
        "yes" if row.interval else "no",
    )


def _composite(id_: str, row: InventoryRow, tables: Specification) -> str:
    if row.excluded:
        return f"no: {row.excluded[0].lower()}{row.excluded[1:].rstrip('.')}"
    weights = (
        f"{name} {profile[id_]:.2f}" for name, profile in tables.profiles.items() if id_ in profile
    )
    return ", ".join(weights)


def _weights(tables: Specification) -> str:
    """Tell the weights side by side, and how a value enters."""
    enters = {"none": "as it is", "percent": "divided by 100", "invert": "1 − value"}
    table = _table("metric", *(f"profile {name}" for name in tables.profiles), "enters")
    for id_, row in tables.metrics.items():
        if row.normalization:
            weights = (profile.get(id_) for profile in tables.profiles.values())
            told = ("–" if weight is None else f"{weight:.2f}" for weight in weights)
            table += _cells(f"`{id_}`", *told, enters[row.normalization])
    return (
        f"{table}\nWeights of metrics without a value are shared out among those that have one, "
        "in proportion.\n"
    )


def _tiers(tables: Specification) -> str:
    table = _table("tier", "composite from")
    for least, name in tables.tiers:
        table += _cells(name, f"{least:.2f}")
    return table


def _table(*names: str) -> str:
    return _cells(*names) + _cells(*("---" for _ in names)).replace(" ", "")


def _cells(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
