"""The annotator that asks a morphological analyser about the words of outputs and references."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from threading import RLock

import msgpack

from corpora.files.packed_list import in_blocks
from corpora.languages.cards import WritingSystem
from corpora.text.comparison import FORM, alike
from corpora.text.tokens import JOINERS, pieces, words
from harness.annotators.annotator import Find, Memo, NoMemo, Search
from harness.core.failures import UsageError
from harness.fst.analyser import FORMAT, Analyser, Verdict, open_analyser
from harness.fst.builtin import BuiltinEngine
from harness.fst.model import AnalyserError, find_analyser, read_model
from scoring.core.setup import Acceptance, AnalyserFacts, FstAnnotation, Translation, WordAnalysis
from scoring.words.source_words import Resources

MOST_UNKEPT = 5_000
"""New findings that are held back until they are kept together."""
MOST_TEXTS, MOST_WORDS = 8_192, 50_000
"""Texts, and words, that are kept: floors, and what the card says of entries, ask for the same references again."""
TOGETHER = 1_000
"""References whose words are looked up together before a run."""


class FstAnnotator:
    """Looks each distinct word up once, and only where the memo does not know it."""

    id = "fst"
    slow = False

    def __init__(
        self,
        analyser: Analyser | Callable[[], Analyser],
        writing: WritingSystem | None = None,
        memo: Memo | None = None,
        *,
        sha256: str | None = None,
        language: tuple[str, str] | None = ("", FORM),
    ) -> None:
        """Initialise with an analyser, or what opens it at the first word that the memo does not know.

        ``sha256`` of the analyser's file names its findings; it is needed where the analyser is not yet
        open. ``writing`` says what a word is and which spellings count as one; None: no card. ``language``:
        shortest tag and form, as ``corpora.text.comparison`` takes them; None reads texts as they are.
        """
        self._language = language
        self._analyser = analyser
        self._maker = f"fst {FORMAT} {sha256 or self._opened().sha256}"
        """Names the findings: by the file, not the engine, since all engines agree."""
        self._joiners = writing.joiners if writing else JOINERS
        self._letters = writing.word_letters if writing else ""
        self._normalisation = writing.normalisation if writing else ()
        spellings = "|".join(re.escape(spelling) for spelling, _ in self._normalisation)
        self._other_spelling = re.compile(spellings) if spellings else None
        self._memo: Memo = memo or NoMemo()
        self._pieces: dict[str, tuple[str, ...]] = {}
        """Piece of a text with other signs than letters → its words, as pieces come again and again."""
        self._verdicts: dict[str, Verdict] = {}
        """Form of a word → verdict on it."""
        self._analyses: dict[str, WordAnalysis] = {}
        """Word as it is in a text → what is found of it."""
        self._texts: dict[tuple[str, bool], tuple[WordAnalysis, ...]] = {}
        """Text, and whether it is of a secret entry → its words."""
        self._unkept: dict[str, bytes] = {}
        """Findings that the memo does not have yet, by form."""
        self._secret: set[str] = set()
        """Forms that were looked up for secret entries only, which the memo must not learn of."""
        self._alone = RLock()
        """Runs that are scored alike share an annotator, and one may begin before another has ended."""

    def annotate(self, translations: Sequence[Translation]) -> list[FstAnnotation]:
        """Return the words of each output and its reference, with their verdicts; see ``Annotator``."""
        self._forget_much()
        known = self._texts  # another run may forget them meanwhile
        for secret in (False, True):
            own = [one for one in translations if one.entry.secret is secret]
            texts = dict.fromkeys(text for one in own for text in (one.output, one.entry.reference))
            new = {text: self.split(text) for text in texts if (text, secret) not in known}
            analyses = self._look_up(set(chain.from_iterable(new.values())), secret=secret)
            known |= {(text, secret): tuple(map(analyses.__getitem__, words)) for text, words in new.items()}
        return [
            FstAnnotation(known[one.output, one.entry.secret], known[one.entry.reference, one.entry.secret])
            for one in translations
        ]

    def analyse_words(self, found: Sequence[str]) -> list[WordAnalysis]:
        """Find the analyses of words that are already split; nothing of them is kept, for their text may be secret."""
        self._forget_much()
        analyses = self._look_up(set(found), secret=True)
        return [analyses[word] for word in found]

    def close(self) -> None:
        with self._alone:
            if self._unkept:
                self._memo.keep(self._maker, self._unkept)
                self._unkept = {}

    def forget(self) -> None:
        """Empty the memory; the memo has what is not of secret entries."""
        with self._alone:
            self.close()
            self._pieces, self._verdicts, self._analyses, self._texts, self._secret = {}, {}, {}, {}, set()

    def _opened(self) -> Analyser:
        if not isinstance(self._analyser, Analyser):
            self._analyser = self._analyser()
        return self._analyser

    def split(self, text: str) -> list[str]:
        """Return the words of a text that are looked up, in order: no numbers, placeholders, addresses."""
        text_words: list[str] = []
        known = self._pieces  # another run may forget them meanwhile
        read = text if self._language is None else alike(text, *self._language)
        for piece in pieces(read):
            if piece.isalpha():
                text_words.append(piece)
                continue
            if piece not in known:
                found_words = (word.text for word in words(piece, self._joiners, self._letters))
                known[piece] = tuple(word for word in found_words if any(map(str.isalpha, word)))
            text_words += known[piece]
        return text_words

    def _forget_much(self) -> None:
        with self._alone:
            if len(self._texts) > MOST_TEXTS or len(self._verdicts) > MOST_WORDS:
                self.forget()

    def _look_up(self, wanted: Collection[str], *, secret: bool) -> Mapping[str, WordAnalysis]:
        """Return what is found of at least these words."""
        with self._alone:
            self._try(wanted, secret=secret)
            return self._analyses

    def _try(self, wanted: Collection[str], *, secret: bool) -> None:
        if not secret and self._secret:
            # Forms that were secret until they came up in a public text too are kept from now on.
            for form in {form for word in wanted for form, _ in self._forms(word)} & self._secret:
                self._secret.discard(form)
                self._unkept[form] = _packed(self._verdicts[form])
        tries = {word: self._forms(word) for word in wanted if word not in self._analyses}
        while tries:
            tried = {word: next(forms, None) for word, forms in tries.items()}
            self._settle({attempt[0] for attempt in tried.values() if attempt}, secret=secret)
            for word, attempt in tried.items():
                form, way = attempt or ("", None)
                accepted, analyses = self._verdicts[form] if attempt else (False, ())
                if accepted or not attempt:
                    self._analyses[word] = WordAnalysis(word, way, analyses)
                    del tries[word]
        if len(self._unkept) >= MOST_UNKEPT:
            self.close()

    def _forms(self, word: str) -> Iterator[tuple[str, Acceptance]]:
        """Yield the forms in which a word is tried, each once, in order (METRICS §2)."""
        written = unicodedata.normalize("NFC", word)
        yield written, Acceptance.AS_WRITTEN
        forms = [written, unicodedata.normalize("NFC", written.lower())]
        if forms[1] != written:
            yield forms[1], Acceptance.LOWER_CASED
        if self._other_spelling is not None and any(map(self._other_spelling.search, forms)):
            spelt = dict.fromkeys(forms)
            for spelling, analysers in self._normalisation:
                spelt = dict.fromkeys(form.replace(spelling, analysers) for form in spelt)
            for form in spelt:
                if form not in forms:
                    yield form, Acceptance.NORMALISED

    def _settle(self, forms: Iterable[str], *, secret: bool) -> None:
        """Ensure that there is a verdict on each form: recalled, else asked for."""
        unknown = [form for form in forms if form not in self._verdicts]
        if unknown and not secret:
            for form, content in self._memo.recall(self._maker, unknown).items():
                if (verdict := _unpacked(content)) is not None:
                    self._verdicts[form] = verdict
            unknown = [form for form in unknown if form not in self._verdicts]
        if not unknown:
            return
        for form, verdict in zip(unknown, self._opened().analyse(unknown), strict=True):
            self._verdicts[form] = verdict
            if secret:
                self._secret.add(form)
            else:
                self._unkept[form] = _packed(verdict)


def _packed(verdict: Verdict) -> bytes:
    """Pack the analyses of an accepted word, nil for a rejected one."""
    accepted, analyses = verdict
    content: bytes = msgpack.packb(analyses if accepted else None)
    return content


def _unpacked(content: bytes) -> Verdict | None:
    """Read what was kept; None where it is damaged, so that the word is looked up again."""
    try:
        analyses = msgpack.unpackb(content)
    except (ValueError, msgpack.UnpackException):
        return None
    if analyses is None:
        return False, ()
    if isinstance(analyses, list) and all(isinstance(analysis, str) for analysis in analyses):
        return True, tuple(analyses)
    return None


# ---- An analyser made ready for a run: what it is, and how much of the references it knows.

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


def analyser_annotator(path: Path, resources: Resources, memo: Memo) -> tuple[FstAnnotator, AnalyserFacts]:
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

    engine, version, acceptor = _facts(memo, key, opener)
    tags = resources.languages
    annotator = FstAnnotator(opener, resources.writing, memo, sha256=model.sha256, language=tags[1:] if tags else None)
    words = accepted = 0
    for entries in in_blocks(resources.entries, TOGETHER):
        for annotation in annotator.annotate([Translation(entry, "") for entry in entries]):
            words += len(annotation.reference)
            accepted += sum(word.accepted is not None for word in annotation.reference)
    return annotator, AnalyserFacts(
        name=model.name, sha256=model.sha256, engine=engine, engine_version=version, acceptor=acceptor,
        reference_words=words, reference_accepted=accepted,
    )  # fmt: skip


def _facts(memo: Memo, key: str, opener: Callable[[], Analyser]) -> _Facts:
    """Return what an analyser is: as stored, else as it says itself; what is stored damaged is asked again."""
    try:
        engine, version, acceptor = msgpack.unpackb(memo.recall(_MAKER, [key])[key])
    except (KeyError, ValueError, TypeError, msgpack.UnpackException):
        analyser = opener()
        engine, version, acceptor = analyser.engine, analyser.engine_version, analyser.acceptor
        memo.keep(_MAKER, {key: msgpack.packb((engine, version, acceptor))})
    return engine, version, acceptor
