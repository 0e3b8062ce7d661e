"""English content words: what a source sentence and a dictionary's glosses are compared by.

Dictionaries of many small languages are glossed in English. The list of words without content and the
stemming are our own and small: they need to bring “saw” and “see” together, not to parse English. Negations
and words of number, time and place have content here: “not” makes a different sentence.
"""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")

_EMPTY_WORDS = """
a an the this that these those such
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its
itself we us our ours ourselves they them their theirs themselves one ones oneself someone somebody
something anyone anybody anything s so sth sb o t pl sg
am is are was were be been being do does did done doing have has had having
will would shall should can could may might must ought let lets
of to in on at by for with from into onto as about than then
and or but nor if while because though although since until unless whether
who whom whose which what there here
very just too also even quite rather really still already
am's i'm you're he's she's it's we're they're i've you've we've they've i'll you'll he'll she'll it'll
we'll they'll i'd you'd he'd she'd we'd they'd that's there's let's e.g i.e etc esp usually used
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
"""Words without content of their own, and what dictionaries write for someone and something."""

_IRREGULAR = {
    form: base
    for base, forms in {
        "be": "am is are was were been",
        "bear": "bore borne born",
        "become": "became",
        "begin": "began begun",
        "bite": "bit bitten",
        "blow": "blew blown",
        "break": "broke broken",
        "bring": "brought",
        "build": "built",
        "burn": "burnt",
        "buy": "bought",
        "catch": "caught",
        "child": "children",
        "choose": "chose chosen",
        "come": "came",
        "cry": "cried cries",
        "die": "died dying",
        "dig": "dug",
        "draw": "drew drawn",
        "drink": "drank drunk",
        "drive": "drove driven",
        "eat": "ate eaten",
        "fall": "fell fallen",
        "feed": "fed",
        "feel": "felt",
        "fight": "fought",
        "find": "found",
        "fly": "flew flown flies",
        "foot": "feet",
        "forget": "forgot forgotten",
        "freeze": "froze frozen",
        "get": "got gotten",
        "give": "gave given",
        "go": "went gone goes going",
        "good": "better best well",
        "goose": "geese",
        "grow": "grew grown",
        "hang": "hung",
        "hear": "heard",
        "hide": "hid hidden",
        "hold": "held",
        "keep": "kept",
        "knife": "knives",
        "know": "knew known",
        "leaf": "leaves",
        "leave": "left",
        "lie": "lying lain",
        "life": "lives",
        "lose": "lost",
        "make": "made",
        "man": "men",
        "mean": "meant",
        "meet": "met",
        "moose": "mooses",
        "mouse": "mice",
        "no": "not don't doesn't didn't isn't aren't wasn't weren't won't can't cannot couldn't shouldn't "
        "wouldn't haven't hasn't hadn't never",
        "pay": "paid",
        "person": "people persons",
        "ride": "rode ridden",
        "ring": "rang rung",
        "rise": "rose risen",
        "run": "ran",
        "say": "said",
        "see": "saw seen",
        "seek": "sought",
        "sell": "sold",
        "send": "sent",
        "sew": "sewn",
        "shoot": "shot",
        "sing": "sang sung",
        "sit": "sat",
        "sleep": "slept",
        "speak": "spoke spoken",
        "stand": "stood",
        "steal": "stole stolen",
        "strike": "struck",
        "swim": "swam swum",
        "take": "took taken",
        "teach": "taught",
        "tear": "tore torn",
        "tell": "told",
        "think": "thought",
        "throw": "threw thrown",
        "tooth": "teeth",
        "understand": "understood",
        "wake": "woke woken",
        "wear": "wore worn",
        "wife": "wives",
        "win": "won",
        "wolf": "wolves",
        "woman": "women",
        "write": "wrote written",
    }.items()
    for form in forms.split()
}
_VOWELS = frozenset("aeiouy")


@lru_cache(maxsize=65536)
def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words of an English text that have content."""
    found = (word.casefold().replace("’", "'") for word in _WORD.findall(text))
    return frozenset(stem(word) for word in found if len(word) > 1 and word not in _EMPTY)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Reduce the forms of a folded word to one: sleeps, sleeping, slept."""
    word = word.removesuffix("'s")
    if word in _IRREGULAR:
        word = _IRREGULAR[word]
    for ending in ("ing", "ed", "es", "s"):
        rest = word[: -len(ending)]
        kept = ending == "s" and rest.endswith(("s", "u", "i"))  # glass, bus, analysis
        if word.endswith(ending) and len(rest) > 2 and not kept and not _VOWELS.isdisjoint(rest):
            return _bare(rest)
    return _bare(word)


def _bare(word: str) -> str:
    """Remove what a spelling rule leaves at the end: stopp(ed), danc(e), cri(ed)."""
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    return f"{word[:-1]}y" if len(word) > 2 and word.endswith("i") else word
