"""An analyser made ready for a run: what it is, and how much of the references it knows."""

from __future__ import annotations

from pathlib import Path

import msgpack

from harness.annotators.annotator import Find, Memo, Search
from harness.annotators.fst import FstAnnotator
from harness.core.failures import UsageError
from harness.fst.analyser import FORMAT, Analyser, open_analyser
from harness.fst.builtin import BuiltinEngine
from harness.fst.find import find_analyser
from harness.fst.model import AnalyserError, read_model
from scoring.core.setup import AnalyserFacts
from scoring.core.translation import Translation
from scoring.words.resources import Resources

_MAKER = f"analyser facts {FORMAT}"
_Facts = tuple[str, str, bool]
"""Engine, its version, and whether the analyser is an acceptor."""


NEED_IT = ("fst_acceptance_rate", "morphological_accuracy")
"""Metrics that cannot be without an analyser."""


def find(search: Search) -> Find | None:
    """Find the analyser and ask it about the references; None where there is none.

    UsageError where the one that was named cannot be used; a damaged one that nobody named is only off.
    """
    named, resources = search.told.get("analyser"), search.resources
    language = resources.setup.target_language
    path = named or find_analyser(resources.card, language, search.folders)
    if path is None:
        return None
    try:
        return Find(*analyser_annotator(path, resources, search.memo))
    except AnalyserError as error:
        if named is not None:
            raise UsageError(f"--analyser: {error}") from error
        return Find(None, None, dict.fromkeys(NEED_IT, f"{error} (status {error.status})"))


def analyser_annotator(
    path: Path, resources: Resources, memo: Memo
) -> tuple[FstAnnotator, AnalyserFacts]:
    """Make the annotator, and ask it about all words of the references.

    The file is checked and opened only where the memo does not know it, or a word. Raises AnalyserError
    where it cannot be used.
    """
    model = read_model(path)
    key = f"{model.sha256} {BuiltinEngine.name}-{BuiltinEngine.version}"
    opened: list[Analyser] = []

    def opener() -> Analyser:
        if not opened:
            opened.append(open_analyser(path))
        return opened[0]

    engine, version, acceptor = _recalled(memo, key) or _asked(memo, key, opener())
    tags = resources.languages
    annotator = FstAnnotator(
        opener, resources.writing, memo, sha256=model.sha256, language=tags[1] if tags else None
    )
    words, accepted = _references(annotator, resources)
    return annotator, AnalyserFacts(
        name=model.name,
        sha256=model.sha256,
        engine=engine,
        engine_version=version,
        acceptor=acceptor,
        reference_words=words,
        reference_accepted=accepted,
    )


def _recalled(memo: Memo, key: str) -> _Facts | None:
    """Return what is stored of an analyser; None where it is damaged too, so that it is asked again."""
    try:
        engine, version, acceptor = msgpack.unpackb(memo.recall(_MAKER, [key])[key])
    except (KeyError, ValueError, TypeError, msgpack.UnpackException):
        return None
    return engine, version, acceptor


def _asked(memo: Memo, key: str, analyser: Analyser) -> _Facts:
    facts = (analyser.engine, analyser.engine_version, analyser.acceptor)
    memo.keep(_MAKER, {key: msgpack.packb(facts)})
    return facts


def _references(annotator: FstAnnotator, resources: Resources) -> tuple[int, int]:
    """Count the words of the references, and those that the analyser accepts."""
    fst_annotations = annotator.annotate([Translation(entry, "") for entry in resources.entries])
    words = [word for annotation in fst_annotations if annotation for word in annotation.reference]
    return len(words), sum(word.accepted is not None for word in words)
