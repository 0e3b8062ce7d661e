"""Every option of a run, each said once: what the command line, the form, the package and the page of options are made of.

A new option is one row here, one field of the model that checks it (``MethodOptions``, ``ScoringOptions`` or
``RunOptions``) and the code that uses it. ``docs/make_options.py`` then writes its page and ``rosetta/options.py``. Nothing here
loads a library: help pages are made of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from corpora.model.task import TASKS
from harness.method.method_names import METHOD_CLASSES, SERVICE_NAMES, SHIPPED

WRITTEN: Final = (
    "specification", "legacy", "reference-implementation", "jsonl", "csv", "tsv", "parallel",
)  # fmt: skip
"""Forms that a corpus is read from and written in."""
FORMS: Final = (*WRITTEN, "tmx", "xliff", "xlsx", "po", "arb")
SEGMENTS: Final = ("development", "diagnostic", "gold_standard", "held_out")
CHECKS: Final = ("source-copy", "length", "placeholders", "script", "glossary", "fst")
TOOLS: Final = ("lookup", "analyse")
STRIPS: Final = ("prose", "wrapper", "quotes")
"""What may be taken off an output before it is scored, in this order (``scoring.findings.content``)."""


class OptionKind(Enum):
    """What an option takes: how the command line reads it, and by which control a form fills it in."""

    TEXT = auto()
    NAME = auto()
    """A text for which there are suggestions."""
    CHOICE = auto()
    """One of ``choices``."""
    WHOLE = auto()
    NUMBER = auto()
    FILE = auto()
    FILE_OR_NAME = auto()
    FILES = auto()
    WORDS = auto()
    """Several texts."""
    TICKS = auto()
    """Several of a few, which a form shows as boxes: ``boxes``, else what the corpus has."""
    PAIRS = auto()
    """NAME=JSON, several times."""
    SWITCH = auto()


_KIND = OptionKind
SEVERAL: Final = (_KIND.FILES, _KIND.WORDS, _KIND.TICKS, _KIND.PAIRS)
"""What may be given more than once."""
_MODELS: Final = ("chat", "pipeline")
_SERVICES: Final = tuple(f"api:{name}" for name in SERVICE_NAMES)


class RunOption(NamedTuple):
    """One option of ``rosetta run``."""

    name: str
    """Of its value everywhere: in drafts, requests, the package ``rosetta``, and as the field that checks it."""
    help: str
    """What it is for, in a sentence: help page, form, package and docs say the same."""
    kind: OptionKind = OptionKind.TEXT
    label: str = ""
    """Of its field in the form; empty: it is no field."""
    rare: bool = False
    """Shown in the form among all options only, or where it has a value or a fault."""
    default: str = ""
    """What holds where it is left out, in a word or two."""
    flag: str = ""
    """On the command line, where it is not made of the name."""
    short: str = ""
    argument: bool = False
    """True where its place on the command line says what it is."""
    required: bool = False
    metavar: str = ""
    choices: tuple[str, ...] = ()
    """All that it may be."""
    boxes: tuple[str, ...] = ()
    """What a form offers of TICKS that may be anything."""
    least: float | None = None
    most: float | None = None
    whole_numbers: bool = False
    """True where its ticks are whole numbers from ``least`` to ``most``."""
    common: bool = False
    """Explained by ``-h``; the others by ``-h --all``."""
    needed_by: tuple[str, ...] = ()
    """Methods that cannot be made without it."""
    taken_by: tuple[str, ...] = ()
    """Methods that may have it. One that no method is named for belongs to every run."""
    also: tuple[str, ...] = ()
    """Other commands that take it: ``score``, ``resume``, ``retry``, ``reproduce``."""
    python: str = ""
    """Its type in the package ``rosetta``, where that is not the one of its kind."""

    @property
    def opt(self) -> str:
        """Return its name on the command line."""
        return self.flag or f"--{self.name.replace('_', '-')}"


class OptionGroup(NamedTuple):
    """Options that belong together, in the form and on the help page."""

    title: str
    options: tuple[RunOption, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of its options."""
        return tuple(option.name for option in self.options)


_O = RunOption
_CALLS: Final = ("score", "retry", "reproduce")
_SCORED: Final = ("score", "reproduce")

CORPUS: Final = OptionGroup(
    "The corpus",
    (
    _O("file", "A file, or a corpus that the store has. Of a vault: its name there.", _KIND.FILE, "Corpus", argument=True, required=True),
    _O("reference", "The second of two text files, aligned line by line.", _KIND.FILE, "References", rare=True, argument=True),
    _O("form", "How the file is written.", _KIND.CHOICE, "Form", rare=True, default="found out", choices=FORMS),
    _O("source_language", "Language of the sources, as a BCP 47 tag, where the file has none.", _KIND.TEXT, "Source language", rare=True, metavar="TAG", common=True),
    _O("target_language", "Language of the references, as a BCP 47 tag, where the file has none.", _KIND.TEXT, "Target language", rare=True, metavar="TAG", common=True),
    _O("task", f"What the method has to do, where the file does not say it: {', '.join(TASKS)}.", _KIND.CHOICE, "Task", rare=True, default="translation", metavar="TASK", choices=tuple(TASKS)),
    _O("source_column", "Column of the sources, or field of JSON, by name or number.", _KIND.TEXT, "Source column", rare=True, default="found out", metavar="NAME"),
    _O("reference_column", "Columns of the references, by names or numbers.", _KIND.TEXT, "Ref. column", rare=True, default="found out", metavar="NAME,NAME…"),
    _O("other_reference", "Another file of references, aligned by line.", _KIND.FILES, "More references", rare=True, metavar="FILE"),
    _O("corpus_id", "Id of a corpus whose file gives none.", _KIND.TEXT, "Corpus id", rare=True, flag="--id"),
    ),
)  # fmt: skip
VAULT: Final = OptionGroup(
    "A vault",
    (
    _O("vault", "The vault that holds the corpus. Where a command takes FILE, give the corpus's name there instead.", _KIND.FILE, "Vault", rare=True, metavar="FOLDER"),
    _O("purpose", "Why the vault is opened. Its log keeps these words, so name nobody and quote no text.", _KIND.TEXT, "Purpose", rare=True, metavar="WORDS"),
    _O("others", "Keys of a keeper who is here, or the recovery key; repeat it for each. `paper`: ask for the words of printed shares until there are enough.", _KIND.FILES, "With keepers", rare=True, default="this computer's keeper", flag="--with", metavar="FILE|paper"),
    _O("clock_was_wrong", "The clock is right now, and was wrong when the last line of the vault's log was written.", _KIND.SWITCH, "Clock was wrong", rare=True),
    _O("despite_network", "Open the vault even though this computer can reach others; the log and the card keep WHY.", _KIND.TEXT, "Despite network", rare=True, metavar="WHY"),
    ),
)  # fmt: skip
ENTRIES: Final = OptionGroup(
    "Which entries of it",
    (
    _O("segment", "Only entries of this segment. Secret ones stay on this machine.", _KIND.TICKS, "Segments", choices=SEGMENTS, default="all", common=True),
    _O("difficulty", "Only entries of this tier of difficulty.", _KIND.TICKS, "Difficulty", least=1, most=5, default="all", whole_numbers=True),
    _O("limit", "At most this many entries, the first ones.", _KIND.WHOLE, "At most", least=1, default="all", common=True),
    _O("sample", "This many entries at random, always the same for one seed.", _KIND.WHOLE, "Sample", least=1, default="all"),
    _O("seed", "Another number draws another sample.", _KIND.WHOLE, "Seed", rare=True, default="0"),
    _O("entries", "Only these entries, by their ids.", _KIND.TEXT, "Entry ids", rare=True, default="all", metavar="ID,ID…", python="Sequence[str | int]"),
    ),
)  # fmt: skip
METHOD: Final = OptionGroup(
    "The method",
    (
    _O("method", "What translates, or answers: see the list of methods. Your own is FILE.py or FILE.py:CLASS.", _KIND.NAME, "Method", short="-m", required=True, common=True),
    _O("outputs", "Outputs made elsewhere: text, JSONL, TSV, CSV, a run card or a log of inspect_ai.", _KIND.FILE, "Outputs", needed_by=("replay", "human"), also=("retry", "reproduce")),
    _O("method_class", "What kind of method made the outputs.", _KIND.CHOICE, "Class", rare=True, default="custom-plugin", choices=tuple(METHOD_CLASSES), taken_by=("replay",), also=("score",)),
    _O("translator", "Label of the human translator.", _KIND.TEXT, "Translator", default="human", taken_by=("human",)),
    _O("text", "What the constant method answers.", _KIND.TEXT, "Text", needed_by=("constant",)),
    _O("endpoint", "A preset (openrouter, openai, ollama …) or a URL that speaks chat completions.", _KIND.NAME, "Endpoint", common=True, needed_by=_MODELS, taken_by=_SERVICES, also=("retry", "reproduce")),
    _O("model", "The model, as the endpoint names it; of outputs from elsewhere, the system that made them.", _KIND.NAME, "Model", common=True, needed_by=_MODELS, taken_by=("replay",), also=("score", "retry")),
    _O("region", "Region of a Microsoft key.", _KIND.TEXT, "Region", rare=True, default="global", taken_by=("api:microsoft",)),
    _O("prompt", "A file, or a version that is shipped, such as plain-v1.", _KIND.FILE_OR_NAME, "Prompt", default="by coaching", common=True, taken_by=_MODELS, also=("retry", "reproduce"), python="str"),
    _O("coaching", "Grammar notes, examples and dictionary: JSON or TOML.", _KIND.FILE, "Coaching", default="none", common=True, taken_by=_MODELS, also=("retry", "reproduce")),
    _O("tools", f"What the model may call while it translates: {', '.join(TOOLS)}.", _KIND.TICKS, "Tools", flag="--tool", boxes=TOOLS, taken_by=("pipeline",)),
    _O("checks", f"What is rejected and asked again: {', '.join(CHECKS)}.", _KIND.TICKS, "Checks", flag="--check", boxes=CHECKS, default="all that can be made", taken_by=("pipeline",)),
    _O("strip", f"What is taken off outputs before they are scored: {', '.join(STRIPS)}. The card says so.", _KIND.TICKS, "Strip", rare=True, choices=STRIPS, default="nothing", taken_by=("chat", "pipeline", "replay", "ctranslate2", *_SERVICES)),
    _O("glossary", "Dictionary of phrases and translations: TSV, CSV or JSON.", _KIND.FILE, "Dictionary", needed_by=("glossary",), taken_by=("pipeline",), also=("reproduce",)),
    _O("word_list", "Words of the target language, one on each line.", _KIND.FILE, "Word list", rare=True, taken_by=("pipeline",), also=("reproduce",)),
    _O("model_folder", "Folder of a CTranslate2 model and its tokenizer.json.", _KIND.FILE, "Model folder", needed_by=("ctranslate2",), also=("reproduce",)),
    _O("max_retries", "Times that a rejected answer is asked for again.", _KIND.WHOLE, "Asked again", default="2", taken_by=("pipeline",), also=("retry",)),
    _O("temperature", "0 to 2, or `none` for the endpoint's own.", _KIND.TEXT, "Temperature", default="0", taken_by=_MODELS, also=("retry",), python="float | None"),
    _O("max_tokens", "Output tokens of one call, at most.", _KIND.WHOLE, "Output limit", default="2048", taken_by=_MODELS, also=("retry",), python="int | None"),
    _O("batch_size", "Entries in one call.", _KIND.WHOLE, "Batch", default="1", taken_by=("ctranslate2", "chat", *_SERVICES), also=("retry",)),
    _O("source_name", "Name of the source language for prompts.", _KIND.TEXT, "Source name", rare=True, taken_by=_MODELS, also=("reproduce",)),
    _O("target_name", "Name of the target language for prompts.", _KIND.TEXT, "Target name", rare=True, taken_by=_MODELS, also=("reproduce",)),
    _O("body", "Add this to the body of each call.", _KIND.PAIRS, "Body", rare=True, taken_by=_MODELS, also=("retry",)),
    _O("settings", "Passed to a plug-in. A value that is not JSON is taken as text.", _KIND.PAIRS, "Settings", flag="--set", taken_by=("ctranslate2",), also=("reproduce",)),
    _O("prices", "Your own price table.", _KIND.FILE, "Prices", rare=True, default="the shipped one", taken_by=(*_MODELS, *_SERVICES), also=_CALLS),
    ),
)  # fmt: skip
RUN: Final = OptionGroup(
    "How the run goes",
    (
    _O("budget", "US dollars to spend, at most; the run ends before it would pass them.", _KIND.NUMBER, "Budget", default="none", least=0, common=True, also=("resume", *_CALLS)),
    _O("concurrency", "Calls at once, at most.", _KIND.WHOLE, "Calls at once", default="8", least=1, most=1024, also=("resume", *_CALLS)),
    _O("workers", "Processes that score, at most; secret texts, and outputs that models judge, are scored by one.", _KIND.WHOLE, "Workers", rare=True, default="by cores and size", least=1, most=64, also=("resume", *_CALLS)),
    _O("repeats", "Run it this many times, each call asked again: is the score stable or lucky?", _KIND.WHOLE, "Repeats", default="none", metavar="K", least=2, most=50, common=True),
    _O("condition", "Label of the experiment.", _KIND.TEXT, "Condition", default="by method", also=("score", "retry")),
    _O("method_name", "What the method is called in lists and on the card.", _KIND.TEXT, "Name", rare=True, metavar="NAME", also=("score",)),
    _O("replicate", "Which repetition of the same experiment this is.", _KIND.WHOLE, "Replicate", rare=True, default="0", also=("score",)),
    _O("tags", "A word to find the run again; may be repeated.", _KIND.WORDS, flag="--tag", also=("score",)),
    _O("note", "Your own words beside the run; they stay on this computer.", also=("score",)),
    _O("timeout", "Seconds for one call.", _KIND.NUMBER, "Timeout", rare=True, default="120", least=0, also=_CALLS),
    _O("attempts", "Attempts at one call, at most.", _KIND.WHOLE, "Attempts", rare=True, default="6", least=1, most=100, also=("retry", "reproduce")),
    _O("no_cache", "Ask again even for what was answered before.", _KIND.SWITCH, "Ask again", rare=True, also=("retry",)),
    _O("offline", "Refuse every connection to another machine.", _KIND.SWITCH, "Offline", rare=True, common=True, also=("retry", "reproduce")),
    _O("against", "Compare with this complete run while the run is under way, by the score that leads.", _KIND.TEXT, "Against", rare=True, metavar="RUN"),
    _O("stop_when", "With --against: stop as soon as the run is surely worse, or either is surely better (decided).", _KIND.CHOICE, "Stop when", rare=True, default="never", choices=("worse", "decided")),
    _O("keep_failed", "Seal the run even if entries failed because there was no connection.", _KIND.SWITCH, also=("resume", "retry", "reproduce")),
    _O("trust_local_server", "Say that the server on this machine forwards no secret text; kept for later runs.", _KIND.SWITCH, "Trust server", rare=True, also=_SCORED),
    _O("may_send", "Say that the texts may be sent to the endpoint, and who allows it; the card repeats it.", _KIND.TEXT, "May be sent", rare=True, metavar="WORDS", also=("resume", *_CALLS)),
    ),
)  # fmt: skip
SCORING: Final = OptionGroup(
    "How it is scored",
    (
    _O("metrics", "Such as chrf,lbrag.f1, or a pack for all of its metrics that can be computed: rosetta,lbrag.", _KIND.NAME, "Metrics", default="by task", metavar="NAME,NAME…", also=("score",), python="str | Sequence[str]"),
    _O("scoring", "Signed weights and tier lines (rosetta calibrate --sign), or: specification.", _KIND.FILE_OR_NAME, "Weights", rare=True, default="the specification's", metavar="FILE", also=_SCORED, python="File"),
    _O("multi_ref", "Score chrF++, BLEU, TER against the variants too.", _KIND.SWITCH, "Variants", rare=True, flag="--multi-ref/--one-ref", also=("score",)),
    _O("language_card", "Your own card of the target language.", _KIND.FILE, "Card", rare=True, default="found by language", also=_SCORED),
    _O("analyser", "Morphological analyser (.hfstol).", _KIND.FILE, "Analyser", rare=True, default="found by language", taken_by=("pipeline",), also=_SCORED),
    _O("terms", "Prescribed terms: a dictionary, or coaching with one.", _KIND.FILE, "Terms", rare=True, default="the coaching's", also=_SCORED),
    _O("gloss_dictionary", "Target lemmas with their meanings.", _KIND.FILE, "Glosses", rare=True, also=_SCORED),
    _O("embeddings", "Endpoint or folder of an embedding model.", _KIND.FILE_OR_NAME, "Embeddings", rare=True, metavar="WHERE", also=_SCORED, python="str"),
    _O("embeddings_model", "Model asked for at --embeddings.", _KIND.TEXT, "… model", rare=True, metavar="NAME", also=_SCORED),
    _O("judge", "Endpoint of a model that judges outputs.", _KIND.TEXT, "Judge", rare=True, metavar="WHERE", also=_SCORED),
    _O("judge_model", "Model asked for by --judge.", _KIND.TEXT, "… model", rare=True, metavar="NAME", also=_SCORED),
    _O("comet", "Checkpoint of COMET, or a file of its scores.", _KIND.FILE, "COMET", rare=True, also=_SCORED),
    _O("bertscore", "Folder of a model for BERTScore, or a file of scores.", _KIND.FILE, "BERTScore", rare=True, also=_SCORED),
    ),
)  # fmt: skip
GROUPS: Final = (CORPUS, VAULT, ENTRIES, METHOD, RUN, SCORING)
"""In the order of the form."""

LIMITS: Final = {"budget": "budget_usd", "timeout": "timeout_seconds", "attempts": "most_attempts"}
"""Option of a run → field of ``RunOptions``, where the two are called differently."""
LIMIT_OPTIONS: Final = {field: option for option, field in LIMITS.items()}
OPTIONS: Final[Mapping[str, RunOption]] = {option.name: option for group in GROUPS for option in group.options}


def plan_fields(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return what options of a run say, by the fields of its plan."""
    fields = {LIMITS.get(name, name): value for name, value in told.items()}
    if "no_cache" in fields:
        fields["use_cache"] = not fields.pop("no_cache")
    return fields


def of_command(command: str) -> Iterator[RunOption]:
    """Yield the options that another command takes as well."""
    return (option for option in OPTIONS.values() if command in option.also)


class MethodSpec(NamedTuple):
    """Options of one method, as fields of MethodOptions; both parts in the order in which people are asked."""

    needs: tuple[str, ...] = ()
    """It cannot be made without them."""
    takes: tuple[str, ...] = ()
    """They may be left out."""


METHODS: Final[Mapping[str, MethodSpec]] = {
    method: MethodSpec(
        tuple(option.name for option in OPTIONS.values() if method in option.needed_by),
        (
            *(option.name for option in OPTIONS.values() if method in option.taken_by),
            *(("service",) if method in _SERVICES else ()),
        ),
    )
    for method in SHIPPED
}
"""By the method's name. A plug-in may take anything; it is not listed."""


def asks(method: str) -> bool:
    """Return whether a method asks anybody; one that does not gives the same again. A plug-in may."""
    return method not in METHODS or "endpoint" in (*METHODS[method].needs, *METHODS[method].takes)
