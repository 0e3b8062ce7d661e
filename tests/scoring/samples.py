"""Texts and corpora that the scoring tests share: many scripts, and strings that break careless code."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from corpora.model.entry import Entry
from scoring.core.metric import Table
from scoring.core.scorer import Scorer
from scoring.core.setup import Translation
from scoring.metrics.match_ter import ExactMatch

HOSTILE = (
    "", " ", "\u3000", "a", "!", "a!", "!a", "'tis (a) \"test\", isn't it?", "...", ".,5", "5.,",
    "1,000.50-7", "a-b 5-6 -", "&amp;&lt;skipped&gt;&quot;", "<skipped> x<skipped>y",
    "line-\nbreak\nhere", "[bold]markup[/bold] \x1b[31mred\x1b[0m", "\u202eabc\u202c \u200b\u2060",
    "ᐊᓂᔑᓈᐯᒧᐎᓐ ᓂᑕᐋᔭᐏᔭᐣ", "niwâpamâw ê-wâpamât", "niwa\u0302pama\u0302w", "日本語の文、です。", "中文 測試",
    "ภาษาไทย", "𐐷𐐲𐑌 😀👨‍👩‍👧 𝔘𝔫𝔦", "\ud800 lone \udfff", "x" * 500, "\x00\x1c\x1d nul",
    "ŉ ǰ ΐ և İI ß",
)  # fmt: skip

ALPHABETS = {
    "roman with circumflex": "âêîôaeioptkcmnswyh",
    "syllabics": "ᐊᐁᐃᐅᐋᐸᐯᐱᐳᑕᑌᑎᑐᑲᑫᑭᑯᒪᒣᒥᒧᓇᓀᓂᓄᓴᓭᓯᓱᔭᔦᔨᔪ",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "devanagari": "कखगघचछजझटठडढणतथदधनपफबभमयरलवशषसहािीुूेैोौ",
    "han": "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生",
}

words = st.text(min_size=1, max_size=6)
sentences = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(max_size=60),
    st.lists(st.sampled_from(["a", "b", "c", "d", "e,", "f.", "5", "5-", "-"])).map(" ".join),
)


def entry(reference: str, id_: int = 0, **fields: object) -> Entry:
    return Entry(id=id_, source=f"source {id_}", reference=reference, **fields)


def translations(outputs: Sequence[str], references: Sequence[str]) -> list[Translation]:
    pairs = enumerate(zip(outputs, references, strict=True))
    return [Translation(entry(reference, id_), output) for id_, (output, reference) in pairs]


def matches(*runs: list[int]) -> list[Table]:
    """Runs that are right (1) or wrong (0) on each entry."""
    scorer = Scorer([ExactMatch()])
    texts = [["right" if is_ else "wrong" for is_ in run] for run in runs]
    made = [translations(run, ["right"] * len(run)) for run in texts]
    return [scorer.table(scorer.statistics(run)) for run in made]


def corpus(alphabet: str, entries: int, seed: int = 1) -> list[Entry]:
    """A phrase-book-like corpus in one alphabet: short entries, a few of them repeated."""
    rng = random.Random(seed)

    def word() -> str:
        return "".join(rng.choice(alphabet) for _ in range(rng.randint(2, 8)))

    vocabulary = [word() for _ in range(300)]
    made: list[Any] = []
    for id_ in range(entries):
        reference = " ".join([rng.choice(vocabulary) for _ in range(rng.randint(1, 9))])
        if made and rng.random() < 0.05:
            reference = rng.choice(made).reference
        variants = (f"{reference} {word()}",) if id_ % 3 == 0 else ()
        register = "formal" if id_ % 2 else None
        tags: dict[str, Any] = {"difficulty": id_ % 5 + 1, "register": register}
        source = f"this is source sentence number {id_}"
        made.append(Entry(id=id_, source=source, reference=reference, variants=variants, **tags))
    return made


def worse(text: str, rng: random.Random) -> str:
    """Drop, double and swap a few words."""
    kept = [word for word in text.split() if rng.random() > 0.2]
    if len(kept) > 2 and rng.random() < 0.5:
        kept.insert(0, kept.pop())
    return " ".join(kept)
