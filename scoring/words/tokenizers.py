"""How BLEU splits a text into words, chosen by the writing of the target language.

BLEU counts words, so a text in a script without spaces would score 0 with the usual tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

Tokenizer = Callable[[str], list[str]]

MODULES = {
    "none": "tokenizer_none.NoneTokenizer",
    "13a": "tokenizer_13a.Tokenizer13a",
    "intl": "tokenizer_intl.TokenizerV14International",
    "char": "tokenizer_char.TokenizerChar",
    "zh": "tokenizer_zh.TokenizerZh",
    "ja-mecab": "tokenizer_ja_mecab.TokenizerJaMecab",
    "ko-mecab": "tokenizer_ko_mecab.TokenizerKoMecab",
    "flores200": "tokenizer_spm.Flores200Tokenizer",
}
_LANGUAGES = {
    "zh": "zh", "yue": "zh", "lzh": "zh", "wuu": "zh", "nan": "zh", "hak": "zh",
    "ja": "char", "th": "char", "lo": "char", "my": "char", "km": "char", "bo": "char", "dz": "char",
}  # fmt: skip
_SCRIPTS = {
    "Hani": "zh", "Hans": "zh", "Hant": "zh",
    "Jpan": "char", "Hira": "char", "Kana": "char", "Hrkt": "char",
    "Thai": "char", "Laoo": "char", "Mymr": "char", "Khmr": "char", "Tibt": "char",
}  # fmt: skip
_UNSPACED = {
    "Han": "Hani", "Thai": "Thai", "Lao": "Laoo", "Myanmar": "Mymr", "Khmer": "Khmr", "Tibetan": "Tibt",
}  # fmt: skip
_PLAIN = re.compile(
    r"(?!.*[0-9]-)"
    r"([!\"#$%()*+,./:=?@\[\\\]^_`{|}~]?)"
    r"([^!\"#$%&()*+,./:;<=>?@\[\\\]^_`{|}~]+)"
    r"([!\"#$%()*+,./:=?@\[\\\]^_`{|}~]?)",
    re.DOTALL,
)
"""A word with at most one mark at either end, where all the rules of 13a come down to setting it apart."""


def bleu_tokenizer(target_language: str, script: str | None = None) -> str:
    """Choose sacreBLEU's tokenizer for a BCP 47 tag: ``zh``, ``char`` or ``13a``.

    A script in the tag comes first, then the script of the references, then the language.
    """
    language, *subtags = target_language.replace("_", "-").split("-")
    named = next((tag.title() for tag in subtags if len(tag) == 4 and tag.isalpha()), script)
    if named is None:
        return _LANGUAGES.get(language.lower(), "13a")
    return _SCRIPTS.get(named, "13a")


def references_script(shares: Mapping[str, float]) -> str | None:
    """Find the ISO 15924 code of an unspaced script that references are written in, by their shares of scripts.

    ``Zyyy`` means a script with spaces, None that there are no letters to tell. Kana decide for
    Japanese even where Chinese characters are more.
    """
    if not shares:
        return None
    if shares.get("Hiragana", 0.0) + shares.get("Katakana", 0.0) > 0.05:
        return "Jpan"
    return _UNSPACED.get(next(iter(shares)), "Zyyy")


@cache
def load_tokenizer(name: str) -> Tokenizer:
    """Return the function that splits a line into tokens as sacreBLEU does.

    Raises ValueError, in words that say what is missing, where the tokenizer cannot work here.
    """
    if name not in MODULES:
        raise ValueError(f"there is no tokenizer {name!r}; choose one of {', '.join(MODULES)}")
    if name == "13a":
        return tokens_13a
    tokenizer = _instance(name)
    return lambda line: tokenizer(line.rstrip()).split()


def tokens_13a(line: str) -> list[str]:
    """Split as mteval-v13a; its rules never reach across white space, so it goes word by word."""
    line = line.rstrip()
    if "\n" in line:
        return _tokens_by_sacrebleu(line)
    tokens: list[str] = []
    for word in line.split():
        if word.isalnum():
            tokens.append(word)
        elif plain := _PLAIN.fullmatch(word):
            tokens += filter(None, plain.groups())
        else:
            tokens += _tokens_by_sacrebleu(word)
    return tokens


def _tokens_by_sacrebleu(text: str) -> list[str]:
    tokens: list[str] = _instance("13a")(text).split()
    return tokens


def tokenizer_signature(name: str) -> str:
    """Name the tokenizer as sacreBLEU's signature does, with the version of its dictionary if it has one."""
    return str(_instance(name).signature()) if name in {"ja-mecab", "ko-mecab"} else name


@cache
def _instance(name: str) -> Any:
    """Make sacreBLEU's tokenizer; ValueError, on one line, where something it needs is not here."""
    module, class_name = MODULES[name].split(".")
    try:
        if name == "flores200":
            # Raise where sacreBLEU would download its model: nothing here touches the network.
            from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
            from sacrebleu.utils import SACREBLEU_DIR

            file = SPM_MODELS["flores200"]["url"].rsplit("/", 1)[-1]
            if not (Path(SACREBLEU_DIR) / "models" / file).exists():
                raise FileNotFoundError(f"the file {file} is not in sacreBLEU's folder of models")
        return getattr(import_module(f"sacrebleu.tokenizers.{module}"), class_name)()
    except (ImportError, RuntimeError, OSError) as error:
        what = " ".join(str(error).split())
        raise ValueError(f"the tokenizer {name!r} cannot be used here: {what}") from error
