"""Sentences that speakers are to translate: the sources of a corpus, or the lines of a text file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from corpora.languages.tags import is_language_tag, pair_label
from corpora.model.corpus import Corpus, Dataset
from corpora.model.entry import Entry, Segment
from corpora.text.comparison import is_blank
from harness.core.failures import UsageError
from harness.core.user_file import read_text
from review.files.batch_form import MOST_ITEMS
from review.log.payloads import MOST_TEXT
from review.office.items.surroundings import Carries, Surroundings, surroundings

MOST_BYTES = 32 * 2**20
_ACTS = frozenset(map(chr, range(0x20))) - {"\t"} | {"\x7f"}


@dataclass(frozen=True)
class Sentences:
    """What can be asked about."""

    dataset: Dataset
    """Of the corpus, or made for the file: its name as id, the two languages."""
    entries: Sequence[Entry]
    """Without their answers."""
    repeated: int = 0
    """Lines that stood in the file before; each sentence is asked once."""
    written: Sequence[str] = ()
    """Translations of the corpus, of which only the script and the letters are taken."""
    around: Surroundings = field(default_factory=Surroundings)
    """Where the sentences stand; nothing is known of lines."""


def of_corpus(
    corpus: Corpus, segments: Collection[Segment] = (), carries: Carries = Carries.OPEN
) -> Sentences:
    """Take the sources of a corpus, of some segments or of all; its translations are shown to nobody.

    Entries whose source is blank are passed over. UsageError for sentences of secret segments, because what speakers write is handed on in the open, and for
    one that is too long.
    """
    entries = [
        each
        for each in corpus.entries
        if (not segments or each.segment in segments) and not is_blank(each.source)
    ]
    if not entries:
        raise UsageError(
            "There is no entry with a source in these segments. Choose others with --segment."
        )
    if secret := sum(entry.secret for entry in entries):
        raise UsageError(
            f"{secret} of these sentences belong to secret segments (gold_standard, held_out), and translations "
            "are handed on in the open. Leave them out: --segment development"
        )
    for entry in entries:
        _check_length(entry.source, f"entry {entry.id!r}")
    return Sentences(
        corpus.dataset,
        [entry.question() for entry in entries],
        written=[entry.reference for entry in entries],
        around=surroundings(corpus.entries, carries),
    )


def of_lines(path: Path, source_language: str | None, target_language: str | None) -> Sentences:
    """Take the lines of a text file in UTF-8, one sentence each; empty ones are passed over.

    The id of a sentence is the number of its line. UsageError names file, line and mend.
    """
    languages = _languages(path, source_language, target_language)
    text, _ = read_text(path, "the sentences", MOST_BYTES)
    lines = {n: line.strip() for n, line in enumerate(text.split("\n"), 1) if line.strip()}
    if not lines:
        raise UsageError(f"{path}: no sentence stands in it. Write one on each line.")
    for number, line in lines.items():
        _check_length(line, f"{path}: line {number}")
        if not _ACTS.isdisjoint(line):
            raise UsageError(
                f"{path}: line {number}: a control character stands in it. Save the file as plain text."
            )
    first = {line: number for number, line in reversed(lines.items())}
    entries = [
        Entry(id=number, source=line, reference="")
        for number, line in lines.items()
        if first[line] == number
    ]
    dataset = Dataset(
        id=path.stem, language_pair=pair_label(*languages),
        source_language=languages[0], target_language=languages[1],
    )  # fmt: skip
    return Sentences(dataset, entries, len(lines) - len(entries))


def _languages(path: Path, source: str | None, target: str | None) -> tuple[str, str]:
    for option, tag in (("--source-language", source), ("--target-language", target)):
        if tag is None:
            raise UsageError(
                f"{path}: lines of text do not say their languages. Name them: "
                "--source-language en --target-language crk"
            )
        if not is_language_tag(tag):
            raise UsageError(
                f"{option} {tag[:40]!r}: no language tag. Write one such as en or crk."
            )
    return source or "", target or ""


def _check_length(text: str, where: str) -> None:
    if len(text) > MOST_TEXT:
        raise UsageError(
            f"{where}: {len(text):,} characters are too many for one sentence; at most {MOST_TEXT:,}. Part it."
        )


def check_count(wanted: int) -> None:
    """Refuse more than a batch holds."""
    if not 1 <= wanted <= MOST_ITEMS:
        raise UsageError(f"--items {wanted:,}: between 1 and {MOST_ITEMS:,} are possible.")
