"""What commands and screens say of a submission, without Textual: who handed it in, what is there, and what each step is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from harness.submission.bundle import SubmissionManifest
from harness.submission.desk import KeptSubmission

INCOMPLETE: Final = "It can be rehearsed, but not be run over secret texts before each part is there."

MEANS: Final[Mapping[str, str]] = {
    "came in": "The desk keeps the file as it came, and a line for each thing that is done with it.",
    "complete": "If a part lacks something, its maker fixes it, packs it again and sends it once more.",
    "rehearsed": "It runs over the open sentences of its card, and its scores are compared with those that it claims. No keeper is asked for it.",
    "run over secret texts": "CORPUS is a file with secret entries, or with --vault FOLDER and --purpose WORDS a corpus of a vault, whose keepers are asked. --terms are your terms, which its maker must have accepted.",
    "report released": "Coarse scores and five caveats as yes or no, or where it stopped; either counts in the budget (rosetta vault budget).",
    "confirmation": "A tier above functional, an ownership record and a passed review rest on sentences over which no scores were released before, 50 at least.",
    "its run": "Without its run nothing can be released, and nobody can rate it.",
    "speakers are asked": "Speakers decide, not scores: a review of the run goes to their laptops.",
    "ratings are here": "They come back on sticks, sealed; each stick is imported, and the same one twice does no harm.",
    "what was flagged is decided": "A person looks at each sentence that somebody called harmful, and says whether it is.",
    "the gate decided": "It judges the ratings by the policy that was signed before anybody rated.",
    "certificate at the card": "The certificate lifts what may be claimed of the run, and is next to its card from then on.",
}
"""Step → what it is, and who does it."""


def bundle_lines(manifest: SubmissionManifest, number: str, phrase: str) -> Iterator[str]:
    """Yield who handed in what; ``phrase``: six words of the key that signed it."""
    yield f"{manifest.name} {manifest.release}, by {manifest.submitter} ({manifest.licence}), {manifest.source_language} to {manifest.target_language}"
    yield f"  number      {number}, signed {manifest.packed[:10]}"
    yield f"  six words   {phrase}"


def where_it_stands(kept: KeptSubmission) -> str:
    """Return in a word or two what was done with a submission last."""
    return kept.state.what.replace("_", " ")
