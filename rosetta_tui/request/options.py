"""What a run is asked with: the options of ``rosetta run``, which its form reads as the command does.

Every command that scores shares the options that name where metrics find what they need. From all of them follows
what the door is asked for (``harness.api``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness.core.failures import UsageError
from harness.method.shipped import METHOD_CLASSES, METHODS
from rosetta_tui.request.reading import reading, selecting, selection
from rosetta_tui.request.vault import by_grant, out_of_vault

if TYPE_CHECKING:
    from corpora.model.corpus import Corpus, Selection
    from harness.api import RunRequest
    from harness.setup.plan import Plan
    from harness.setup.scoring_options import ScoringOptions
    from harness.vault.records import RunTerms


Command = TypeVar("Command", bound=Callable[..., Any])
_FILE = click.Path(path_type=Path)


MAX_TOKENS = click.option("--max-tokens", type=int, help="Output tokens of one call, at most.")
PROMPT = click.option("--prompt", help="A file, or a version that is shipped, such as plain-v1.")
COACHING = click.option("--coaching", type=_FILE, help="Grammar notes, examples and dictionary.")
BATCH_SIZE = click.option("--batch-size", type=int, help="Entries in one call.")
MAX_RETRIES = click.option(
    "--max-retries", type=int, help="Attempts of a pipeline after a rejection."
)
PRICES = click.option("--prices", type=_FILE, help="Your own price table.")
BODY = click.option(
    "--body", multiple=True, metavar="NAME=JSON", help="Add this to the body of each call."
)
CONDITION = click.option("--condition", help="Label of the experiment.")
METHOD_NAME = click.option(
    "--method-name", metavar="NAME", help="What the method is called in lists and on the card."
)
METHOD_CLASS = click.option(
    "--method-class",
    type=click.Choice(list(METHOD_CLASSES)),
    help="What kind of method made the outputs. Default: custom-plugin.",
)
CONCURRENCY = click.option(
    "--concurrency", type=click.IntRange(1, 1024), help="Calls at once, at most. Default: 8."
)
BUDGET = click.option(
    "--budget", type=click.FloatRange(0, min_open=True), help="US dollars to spend, at most."
)
TIMEOUT = click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), help="Seconds for one call."
)
KEEP_FAILED = click.option(
    "--keep-failed",
    is_flag=True,
    help="Seal the run even if entries failed because there was no connection.",
)
NO_CACHE = click.option(
    "--no-cache", is_flag=True, help="Ask again even for what was answered before."
)
OFFLINE = click.option(
    "--offline", is_flag=True, help="Refuse every connection to another machine."
)
TRUST_LOCAL_SERVER = click.option(
    "--trust-local-server",
    is_flag=True,
    help="Say that the server on this machine forwards no secret text; kept for later runs.",
)

CONFIRM = click.option(
    "--confirm",
    is_flag=True,
    help="Only secret entries about which nothing was told to anybody, 50 at least: claims rest on such a run.",
)

MAY_SEND = click.option(
    "--may-send",
    metavar="WORDS",
    help="Say that the texts may be sent to the endpoint, and who allows it; the card repeats it.",
)


def scoring_options(command: Command) -> Command:
    """Add the options that say what outputs are scored with."""
    for add in (
        click.option(
            "--bertscore", type=_FILE, help="Folder of a model for BERTScore, or a file of scores."
        ),
        click.option("--comet", type=_FILE, help="Checkpoint of COMET, or a file of its scores."),
        click.option("--judge-model", metavar="NAME", help="Model asked for by --judge."),
        click.option("--judge", metavar="WHERE", help="Endpoint of a model that judges outputs."),
        click.option("--embeddings-model", metavar="NAME", help="Model asked for at the endpoint."),
        click.option("--embeddings", metavar="WHERE", help="Endpoint or folder of embeddings."),
        click.option("--gloss-dictionary", type=_FILE, help="Target lemmas with their meanings."),
        click.option("--terms", type=_FILE, help="Prescribed terms. Default: the coaching's."),
        click.option("--analyser", type=_FILE, help="Morphological analyser (.hfstol)."),
        click.option("--language-card", type=_FILE, help="Your own card of the target language."),
        click.option(
            "--multi-ref/--one-ref",
            default=None,
            help="Score chrF++, BLEU, TER against the variants too. Default: the reference alone.",
        ),
        click.option(
            "--scoring",
            metavar="FILE",
            help="Signed weights and tier lines (rosetta calibrate --sign), or: specification.",
        ),
        click.option(
            "--metrics",
            metavar="NAME,NAME…",
            help="Such as chrf,lbrag.f1, or a pack: rosetta,lbrag. Default: that of the corpus's task.",
        ),
    ):
        command = add(command)
    return command


def read_scoring_options(given: Mapping[str, Any]) -> ScoringOptions:
    """Read these options; paths become independent of the folder in which resume will be called."""
    from harness.api import scoring_of

    return scoring_of({name: value for name, value in given.items() if value is not None})


def make_request(
    corpus: Corpus, given: Mapping[str, Any], chosen: Selection | None = None
) -> RunRequest:
    """Pass the options of a command line to the API; raises UsageError, CorpusError.

    ``chosen``: the entries, in place of those that the options choose.
    """
    from harness.api import ask

    note, tags = given.get("note") or "", given.get("tags") or ()
    chosen = chosen or selection(given)
    return ask(corpus, given["method"], told(given), chosen, note=note, tags=tags)


def nameless(request: RunRequest) -> dict[str, str]:
    """Return option → tag of each language that the run's prompt would call by its tag."""
    takes = METHODS.get(request.plan.method)
    named = takes is not None and "target_name" in takes.takes
    return request.plan.options.nameless if named else {}


def granted_terms(given: Mapping[str, Any]) -> RunTerms | None:
    """Return what the options ask for as a grant names it; None where no vault is opened for it. Raises UsageError."""
    if not given.get("vault"):
        return None
    from harness.run.vault_opening import run_terms

    options = told(given)
    return run_terms(given["method"], options, read_scoring_options(options), selection(given))


def make_plan(corpus: Corpus, given: Mapping[str, Any]) -> Plan:
    """Return the plan alone, whatever entries take part."""
    from harness.api import plan_of

    return plan_of(corpus, given["method"], told(given))


def told(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a command line's options of a run, by the names of the API."""
    from harness.api import LIMITS
    from harness.method.options import MethodOptions
    from harness.setup.scoring_options import ScoringOptions

    known = {
        *MethodOptions.model_fields,
        *ScoringOptions.model_fields,
        *LIMITS,
        "concurrency",
        "may_send",
    }
    known -= {"source_language", "target_language", "task"}  # as the corpus has them
    options = {
        name: value
        for name, value in given.items()
        if name in known and value is not None and value != ()
    }
    if options.get("temperature") == "none":
        options["temperature"] = None
    switches = ("offline", "trust_local_server", "keep_failed")
    return {
        **options,
        **{name: pairs(name, given.get(name, ())) for name in ("body", "settings")},
        **{name: bool(given.get(name)) for name in switches},
        "use_cache": not given.get("no_cache"),
    }


def pairs(name: str, given: Sequence[str]) -> dict[str, Any]:
    """Read NAME=JSON as it was given once or several times; what is no JSON is text."""
    pairs_found: dict[str, Any] = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        try:
            pairs_found[key] = json.loads(value)
        except (ValueError, RecursionError):
            pairs_found[key] = value
        if not equals or not key:
            option = "--set" if name == "settings" else f"--{name}"
            raise UsageError(f"{option} takes NAME=JSON, such as {option} top_p=0.9.")
    return pairs_found


@click.command("run")
@reading
@by_grant
@out_of_vault
@selecting
@click.option(
    "--method",
    "-m",
    required=True,
    help="What translates, or answers: see the list of methods below.",
)
@click.option("--model", help="Model asked for.")
@click.option("--endpoint", help="A preset (openrouter, openai, ollama …) or a URL.")
@click.option("--temperature", help="A number, or `none` for the endpoint's own. Default: 0.")
@MAX_TOKENS
@PROMPT
@COACHING
@BATCH_SIZE
@MAX_RETRIES
@click.option(
    "--check",
    "checks",
    multiple=True,
    help="Of a pipeline: source-copy, length, placeholders, script, glossary, fst.",
)
@click.option("--tool", "tools", multiple=True, help="What the model may call: lookup, analyse.")
@click.option("--glossary", type=_FILE, help="Dictionary file.")
@click.option("--word-list", type=_FILE, help="Words of the target language, one on each line.")
@click.option(
    "--model-folder", type=_FILE, help="Folder of a CTranslate2 model and its tokenizer.json."
)
@click.option("--outputs", type=_FILE, help="Outputs made elsewhere.")
@METHOD_CLASS
@click.option("--translator", help="Label of the human translator.")
@click.option("--text", help="What the constant method answers.")
@click.option("--region", help="Region of a Microsoft key.")
@PRICES
@click.option("--source-name", help="Name of the source language for prompts.")
@click.option("--target-name", help="Name of the target language for prompts.")
@BODY
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=JSON",
    help="Passed to a plug-in. A value that is not JSON is taken as text.",
)
@scoring_options
@CONDITION
@METHOD_NAME
@click.option("--tag", "tags", multiple=True, help="A word to find the run again; may be repeated.")
@click.option("--note", help="Your own words beside the run; they stay on this computer.")
@click.option("--replicate", type=int, help="Which repetition of the same experiment this is.")
@CONCURRENCY
@BUDGET
@TIMEOUT
@click.option(
    "--attempts", type=click.IntRange(1, 100), help="Attempts at one call, at most. Default: 6."
)
@KEEP_FAILED
@NO_CACHE
@OFFLINE
@TRUST_LOCAL_SERVER
@MAY_SEND
def asked(**given: Any) -> None:
    """Every option that makes a run what it is, for the command and for the parser of its form."""
