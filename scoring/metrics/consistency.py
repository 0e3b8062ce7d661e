"""Consistency: whether a term is rendered alike across the entries of a run (METRICS §4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from scoring.core.metric import CorpusMetric, analyser_key, card_key, content_key, own_signature
from scoring.core.specification import metric_info
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker
from scoring.metrics.terminology_adherence import renderings
from scoring.words.bitext import SIGNATURE as CONTENT
from scoring.words.reading import stem
from scoring.words.resources import Resources


class Consistency(CorpusMetric):
    """Occurrences rendered with their term's most frequent rendering / occurrences, 0–1, higher is better.

    Terms are those of the coaching dictionary, without one the content words of the sources with their
    links of the alignment; only what is in two entries or more counts. An occurrence without a
    recognisable rendering (an empty output too) stays in the denominator. Null where nothing repeats.
    Source: scoring-specification §2.4.
    """

    info = metric_info("consistency_score")

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    @property
    def signature(self) -> str:
        setup = self._resources.setup
        of = (
            f"terms:{content_key(setup.terms_sha256)}|card:{card_key(setup)}"
            f"|analyser:{analyser_key(setup)}"
            if setup.terms
            else f"alignment:{setup.alignment or 'none'}|{CONTENT}"
        )
        return own_signature(of)

    @property
    def why_missing(self) -> str:
        return "no term is in two entries"

    def corpus_value(self, translations: Sequence[Translation]) -> float | None:
        agreement_of = self._by_terms if self._resources.setup.terms else self._by_links
        return _agreement(agreement_of(translations))

    def _by_terms(self, translations: Sequence[Translation]) -> Iterable[tuple[object, str | None]]:
        """Yield each term of each entry with the rendering that the output has."""
        finder, terms = renderings(self._resources), self._resources.terms
        for translation in translations:
            applying = terms.applying(translation.entry.source)
            yield from zip(applying, finder.found(applying, translation), strict=True)

    def _by_links(self, translations: Sequence[Translation]) -> Iterable[tuple[object, str | None]]:
        """Yield each content word of each source with the stem in the output that translates it best."""
        bitext = self._resources.bitext
        if bitext.alignment is None:
            return
        for translation in translations:
            source = bitext.source.read(translation.entry.source)
            content = source.distinct - bitext.source_function_words
            stems = frozenset(map(stem, content))
            best: dict[str, tuple[float, str]] = {}
            for target in bitext.target.read(translation.output).stems:
                links = bitext.alignment.links(target)
                for word in links.keys() & stems:
                    link = (links[word], target)
                    if word not in best or link > best[word]:
                        best[word] = link
            for word in content:
                yield word, best.get(stem(word), (0.0, None))[1]


def _agreement(found: Iterable[tuple[object, str | None]]) -> float | None:
    renderings_of: dict[object, list[str | None]] = {}
    for term, rendering in found:
        renderings_of.setdefault(term, []).append(rendering)
    agreeing = occurrences = 0
    for seen in renderings_of.values():
        if len(seen) > 1:
            occurrences += len(seen)
            counts = Counter(rendering for rendering in seen if rendering is not None)
            agreeing += max(counts.values(), default=0)
    return agreeing / occurrences if occurrences else None


def why_no_consistency(resources: Resources) -> str | None:
    """Return that nothing shows which words render which, or None."""
    if resources.setup.terms or resources.setup.alignment:
        return None
    return "there is neither a coaching dictionary nor an alignment, by which renderings are known"


METRICS = {"consistency_score": Maker(Consistency, why_no_consistency)}
