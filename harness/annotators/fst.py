"""The annotator that asks a morphological analyser about the words of outputs and references."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence

import msgpack

from corpora.language import Writing
from corpora.words import JOINERS, pieces, words
from harness.annotators.annotator import Memo, NoMemo
from harness.fst.analyser import FORMAT, Analyser, Verdict
from scoring.analysis import Acceptance, FstAnnotation, WordAnalysis
from scoring.translation import Translation

MOST_UNKEPT = 5_000
"""New findings that are held back until they are kept together."""


class FstAnnotator:
    """Looks each distinct word up once, and only where the memo does not know it."""

    id = "fst"
    slow = False

    def __init__(
        self,
        analyser: Analyser | Callable[[], Analyser],
        writing: Writing | None = None,
        memo: Memo | None = None,
        *,
        sha256: str | None = None,
    ) -> None:
        """Take an analyser, or what opens it at the first word that the memo does not know.

        ``sha256`` of the analyser's file names its findings; it is needed where the analyser is not yet
        open. ``writing`` says what a word is and which spellings count as one; None: no card.
        """
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
        """Piece of a text → its words, as pieces come again and again."""
        self._verdicts: dict[str, Verdict] = {}
        """Form of a word → verdict on it."""
        self._analyses: dict[str, WordAnalysis] = {}
        """Word as it stands in a text → what is found of it."""
        self._unkept: dict[str, bytes] = {}
        """Findings that the memo does not have yet, by form."""
        self._secret: set[str] = set()
        """Forms that were looked up for secret entries only, which the memo must not learn of."""

    def annotate(self, translations: Sequence[Translation]) -> list[FstAnnotation]:
        """See ``Annotator``: the words of each output and its reference, with their verdicts."""
        found = [(self.split(one.output), self.split(one.entry.reference)) for one in translations]
        for secret in (False, True):
            self._look_up(
                {
                    word
                    for one, texts in zip(translations, found, strict=True)
                    if one.entry.secret is secret
                    for text in texts
                    for word in text
                },
                secret=secret,
            )
        known = self._analyses
        return [
            FstAnnotation(
                tuple([known[word] for word in output]), tuple([known[word] for word in reference])
            )
            for output, reference in found
        ]

    def analyse_words(self, found: Sequence[str], *, secret: bool = False) -> list[WordAnalysis]:
        """Look up words that are already split; those of a ``secret`` text are never kept."""
        self._look_up(set(found), secret=secret)
        return [self._analyses[word] for word in found]

    def close(self) -> None:
        """See ``Annotator``."""
        if self._unkept:
            self._memo.keep(self._maker, self._unkept)
            self._unkept = {}

    def _opened(self) -> Analyser:
        if not isinstance(self._analyser, Analyser):
            self._analyser = self._analyser()
        return self._analyser

    def split(self, text: str) -> list[str]:
        """Give the words of a text that are looked up, in order: no numbers, placeholders, addresses."""
        found: list[str] = []
        for piece in pieces(text):
            known = self._pieces.get(piece)
            if known is None:
                known = self._pieces[piece] = self._words(piece)
            found += known
        return found

    def _words(self, piece: str) -> tuple[str, ...]:
        if piece.isalpha():
            return (piece,)
        found = (word.text for word in words(piece, self._joiners, self._letters))
        return tuple(word for word in found if any(map(str.isalpha, word)))

    def _look_up(self, wanted: Collection[str], *, secret: bool) -> None:
        """Find a verdict on each word, in as few questions as there are forms of a word."""
        if not secret and self._secret:
            self._uncover(wanted)
        new = [word for word in wanted if word not in self._analyses]
        if not new:
            return
        forms = {word: self._forms(word) for word in new}
        if not secret:
            self._recall({form for tried in forms.values() for form, _ in tried})
        open_words = new
        for turn in range(max(map(len, forms.values()))):
            asked = {forms[word][turn][0] for word in open_words if turn < len(forms[word])}
            self._ask(asked, secret=secret)
            open_words = [word for word in open_words if not self._accepted_at(forms[word], turn)]
        for word in new:
            self._analyses[word] = self._conclusion(word, forms[word])
        if len(self._unkept) >= MOST_UNKEPT:
            self.close()

    def _forms(self, word: str) -> list[tuple[str, Acceptance]]:
        """Give the forms in which a word is tried, each once, in order (METRICS §2)."""
        written = unicodedata.normalize("NFC", word)
        lowered = written if written.islower() else unicodedata.normalize("NFC", written.lower())
        forms = {written: Acceptance.AS_WRITTEN}
        forms.setdefault(lowered, Acceptance.LOWER_CASED)
        if self._other_spelling is not None and any(map(self._other_spelling.search, forms)):
            for form in (written, lowered):
                forms.setdefault(self._normalised(form), Acceptance.NORMALISED)
        return list(forms.items())

    def _normalised(self, form: str) -> str:
        for spelling, analysers in self._normalisation:
            form = form.replace(spelling, analysers)
        return form

    def _recall(self, forms: Collection[str]) -> None:
        unknown = [form for form in forms if form not in self._verdicts]
        if not unknown:
            return
        for form, content in self._memo.recall(self._maker, unknown).items():
            verdict = _unpacked(content)
            if verdict is not None:
                self._verdicts[form] = verdict

    def _ask(self, forms: Iterable[str], *, secret: bool) -> None:
        """Ask the analyser for what is not known; remember what may be kept."""
        unknown = [form for form in forms if form not in self._verdicts]
        if not unknown:
            return
        for form, verdict in zip(unknown, self._opened().analyse(unknown), strict=True):
            self._verdicts[form] = verdict
            if secret:
                self._secret.add(form)
            else:
                self._unkept[form] = _packed(verdict)

    def _uncover(self, wanted: Iterable[str]) -> None:
        """Let the memo learn of forms that were secret until they came up in a public text too."""
        for word in wanted:
            for form, _ in self._forms(word):
                if form in self._secret:
                    self._secret.discard(form)
                    self._unkept[form] = _packed(self._verdicts[form])

    def _accepted_at(self, tried: Sequence[tuple[str, Acceptance]], turn: int) -> bool:
        return turn < len(tried) and self._verdicts[tried[turn][0]][0]

    def _conclusion(self, word: str, tried: Iterable[tuple[str, Acceptance]]) -> WordAnalysis:
        for form, way in tried:
            accepted, analyses = self._verdicts.get(form, (False, ()))
            if accepted:
                return WordAnalysis(word, way, analyses)
        return WordAnalysis(word, None)


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
