"""The verdicts on meaning: each is reached, and nothing that is wrong is called valid."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scoring.grammar.english import content_words, stem
from scoring.grammar.verdicts import TENTHS, GrammarJudgement, Judge, SemanticVerdict
from tests.review.thorough import examples
from tests.scoring.cree import ANALYSES, annotation, card, translated
from tests.scoring.grammar.glosses import GLOSSES
from tests.scoring.samples import sentences

V = SemanticVerdict


def judge(output: str, reference: str, source: str) -> GrammarJudgement:
    writing = card().writing("Latn")
    judge = Judge(GLOSSES, card().variants, writing.normalisation)
    made = translated(output, reference, source)
    return judge.judge(made, annotation(output, reference))


def test_verdicts() -> None:
    for output, reference, source, verdict in [
        ("niwâpamâw atim", "niwâpamâw atim", "I see the dog.", V.EXACT_MATCH),
        ("Niwâpamâw atim!", "niwâpamâw atim", "I see the dog.", V.EXACT_MATCH),
        ("atim.", "atim", "dog", V.EXACT_MATCH),
        ("Atim", "atim", "dog", V.EXACT_MATCH),
        # equivalent by the rules of the language
        ("atim niwâpamâw", "niwâpamâw atim", "I see the dog.", V.VALID),
        ("êkwa niwâpamâw atim", "niwâpamâw atim", "I see the dog.", V.VALID),
        ("kimîcisonaw", "nimîcisonân", "We are eating.", V.VALID),
        # another word of the same meaning
        ("nipâw mistatim", "nipâw misatim", "The horse sleeps.", V.VALID),
        # explained by the source, where the reference says it with words that no one knows
        ("niwâpamâw atim", "xyzzy frobnitz", "I see the dog.", V.VALID),
        ("nipâw minôs", "blah minôs", "The cat is sleeping.", V.VALID),
        # all is there, put together differently
        ("kiwâpamâw atim", "niwâpamâw atim", "I see the dog.", V.WRONG_ORDER),
        ("minôs wâpamêw atimwa", "atim wâpamêw minôsa", "The dog sees the cat.", V.WRONG_ORDER),
        ("minôs nipâw êkwa atim mîcisow", "atim nipâw êkwa minôs mîcisow", "The dog sleeps and the cat eats.", V.WRONG_ORDER),
        # something is missing, or something is there that nobody asked for
        ("niwâpamâw", "niwâpamâw atim", "I see the dog.", V.PARTIAL),
        ("niwâpamâw atim", "namôya niwâpamâw atim", "I do not see the dog.", V.PARTIAL),
        ("namôya niwâpamâw atim", "niwâpamâw atim", "I see the dog.", V.PARTIAL),
        ("niwâpamâw atim minôs", "niwâpamâw atim", "I see the dog.", V.PARTIAL),
        ("niwâpamâw atim xyzzy", "niwâpamâw atim", "I see the dog.", V.PARTIAL),
        ("niwâpamâw atim 6", "niwâpamâw atim 5", "I see dog 5.", V.PARTIAL),
        ("nipâw", "atim nipâw minôs nâpêw", "dog cat man sleep", V.INCOMPLETE),
        ("minôs nipâw", "niwâpamâw atim", "I see the dog.", V.WRONG),
        ("xyzzy", "frobnitz", "I see the dog.", V.WRONG),
        ("xyzzy plugh", "niwâpamâw atim", "I see the dog.", V.WRONG),
        ("mîna", "niwâpamâw atim", "I see the dog.", V.WRONG),
        ("!!!", "niwâpamâw atim", "I see the dog.", V.WRONG),
        ("", "niwâpamâw atim", "I see the dog.", V.NO_OUTPUT),
        (" \u200b", "", "", V.NO_OUTPUT),
        ("5", "5", "5", V.EXACT_MATCH),
        ("…", "…", "…", V.EXACT_MATCH),
    ]:  # fmt: skip
        assert judge(output, reference, source).verdict is verdict


def test_the_seed_s_weights() -> None:
    assert {verdict.value: tenths / 10 for verdict, tenths in TENTHS.items()} == {
        "EXACT_MATCH": 1.0, "VALID": 1.0, "WRONG_ORDER": 0.7, "PARTIAL": 0.4, "INCOMPLETE": 0.3,
        "WRONG": 0.0, "NO_OUTPUT": 0.0,
    }  # fmt: skip


def test_reasons_name_the_words_as_they_were_written() -> None:
    found = judge("kiwâpamâw xyzzy minôs", "niwâpamâw atim", "I see the dog.")
    assert (found.missing, found.unknown) == (("atim",), ("xyzzy",))
    assert (found.unexplained, found.other_grammar) == (("minôs",), ("kiwâpamâw",))
    made = translated("See the minōs", "Niwâpamāw atim", "x")
    found = Judge(GLOSSES, None, (("e", "ê"), ("ā", "â"))).judge(made, made.annotations["fst"])
    assert (found.missing, found.unknown) == (("Niwâpamāw", "atim"), ("See", "the", "minōs"))


def test_a_dictionary_in_another_orthography_is_understood() -> None:
    writing = card().writing("Latn")
    made = translated("nipâw minôs", "frobnitz", "The cat sleeps.")
    for lemma in ("nipāw", "nipa\u0302w", "NIPÂW"):
        judge = Judge({lemma: ("s/he sleeps",), "minōs": ("cat",)}, None, writing.normalisation)
        assert judge.judge(made, made.annotations["fst"]).verdict is V.VALID


cree_sentences = st.lists(st.sampled_from([*ANALYSES, "xyzzy", "wiyâs"]), max_size=6)
english = st.lists(
    st.sampled_from(["dog", "cat", "sees", "sleeps", "eats", "not", "man", "I", "the", "horse"]),
    max_size=6,
)


@examples(15, 100)
@given(cree_sentences, st.data(), english)
def test_dropping_words_helps_nothing(
    reference: list[str], data: st.DataObject, source: list[str]
) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(reference), max_size=len(reference)))
    once = [word for word, keep in zip(reference, kept, strict=True) if keep]
    cut = data.draw(st.integers(0, len(once)))
    twice = once[:cut] + once[cut + 1 :]
    more, less = (
        TENTHS[judge(" ".join(each), " ".join(reference), " ".join(source)).verdict]
        for each in (once, twice)
    )
    assert less <= more


@examples(15, 150)
@given(sentences, sentences, sentences)
def test_reference_is_exact_and_no_text_raises(output: str, reference: str, source: str) -> None:
    assert TENTHS[judge(output, reference, source).verdict] in {0, 3, 4, 7, 10}
    assert judge(reference, reference, source).verdict in {V.EXACT_MATCH, V.NO_OUTPUT}


def test_stems_join_the_forms_of_a_word_and_no_others() -> None:
    for forms in [
        "sleep sleeps sleeping slept", "stop stops stopped stopping", "dance dances danced dancing",
        "cry cries cried crying", "see sees saw seen seeing", "call calls called calling",
        "pass passes passed passing", "go goes went gone going", "child children child's",
        "berry berries", "house houses", "no not never don't can't",
    ]:  # fmt: skip
        assert len({stem(form) for form in forms.split()}) == 1
    words = "sleep see sea bed bee red read king sing run rain dog glass gloss bus".split()  # noqa: SIM905
    assert len({stem(word) for word in words}) == len(words)
    assert content_words("s/he sees s.o., s/he has s.t. (e.g. a dog)") == {"see", "dog"}
    assert content_words("I don’t see it.") == {"no", "see"}
    assert content_words("She was the one") == frozenset()
