"""English names of languages, for prompts: a model understands “Plains Cree” better than ``crk``."""

from __future__ import annotations

_LANGUAGES = {
    "af": "Afrikaans", "am": "Amharic", "ar": "Arabic", "ay": "Aymara", "bn": "Bengali",
    "bo": "Tibetan", "chr": "Cherokee", "ciw": "Southwestern Ojibwe", "cr": "Cree",
    "crk": "Plains Cree", "crm": "Moose Cree", "csw": "Swampy Cree", "cwd": "Woods Cree",
    "cy": "Welsh", "da": "Danish", "de": "German", "dene": "Dene", "dgr": "Tłı̨chǫ", "el": "Greek",
    "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian", "eu": "Basque",
    "fa": "Persian", "fi": "Finnish", "fo": "Faroese", "fr": "French", "ga": "Irish",
    "gd": "Scottish Gaelic", "gn": "Guarani", "gu": "Gujarati", "gwi": "Gwich’in", "ha": "Hausa",
    "haw": "Hawaiian", "he": "Hebrew", "hi": "Hindi", "hu": "Hungarian", "hy": "Armenian",
    "id": "Indonesian", "ig": "Igbo", "ike": "Eastern Canadian Inuktitut", "is": "Icelandic",
    "it": "Italian", "iu": "Inuktitut", "ja": "Japanese", "ka": "Georgian",
    "kl": "Greenlandic (Kalaallisut)", "km": "Khmer", "ko": "Korean", "la": "Latin", "lkt": "Lakota",
    "lo": "Lao", "mi": "Māori", "mic": "Mi’kmaq", "ml": "Malayalam", "moe": "Innu-aimun",
    "moh": "Mohawk", "mr": "Marathi", "my": "Burmese", "myv": "Erzya", "nah": "Nahuatl",
    "nb": "Norwegian Bokmål", "ne": "Nepali", "nl": "Dutch", "nn": "Norwegian Nynorsk",
    "nv": "Navajo", "oj": "Ojibwe", "ojb": "Northwestern Ojibwe", "ojs": "Severn Ojibwe",
    "pam": "Kapampangan", "pl": "Polish", "pt": "Portuguese", "qu": "Quechua", "rm": "Romansh",
    "ro": "Romanian", "ru": "Russian", "rw": "Kinyarwanda", "se": "Northern Sámi", "si": "Sinhala",
    "sm": "Samoan", "sma": "Southern Sámi", "sme": "Northern Sámi", "smj": "Lule Sámi",
    "smn": "Inari Sámi", "sms": "Skolt Sámi", "sn": "Shona", "so": "Somali", "sq": "Albanian",
    "srs": "Tsuut’ina", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu",
    "th": "Thai", "ti": "Tigrinya", "tk": "Turkmen", "tl": "Tagalog", "to": "Tongan",
    "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek", "vi": "Vietnamese",
    "wo": "Wolof", "xh": "Xhosa", "yo": "Yoruba", "yua": "Yucatec Maya", "zh": "Chinese",
    "zu": "Zulu",
}  # fmt: skip

_SCRIPTS = {
    "Arab": "Arabic script", "Cans": "Canadian Aboriginal syllabics", "Cher": "Cherokee syllabary",
    "Cyrl": "Cyrillic script", "Deva": "Devanagari", "Ethi": "Ethiopic script",
    "Hans": "simplified characters", "Hant": "traditional characters", "Hebr": "Hebrew script",
    "Latn": "Latin script", "Tfng": "Tifinagh", "Tibt": "Tibetan script",
}  # fmt: skip


def language_name(tag: str) -> str:
    """Name a language by its BCP 47 tag, such as “Plains Cree (Canadian Aboriginal syllabics)”.

    A tag that is not in the table stands for itself, with no guess; users can give names of their own.
    """
    language, *rest = tag.replace("_", "-").split("-")
    name = _LANGUAGES.get(language.lower())
    if name is None:
        return tag
    notes = [_SCRIPTS.get(part.title(), part) for part in rest]
    return f"{name} ({', '.join(notes)})" if notes else name
