"""Judges: language models behind any OpenAI-compatible endpoint that say how good an output is.

Each judge is a prompt of ours and a contract of what it may answer (``scoring.packs.judge_replies``). What it is to
judge goes to it as one JSON object, so that no output can pass for a part of the prompt, and only its reply is read
for a score. A reply outside the contract is no score of 0: the output has none, and is counted. An empty output is
not sent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

from corpora.files.json_types import JsonObject
from corpora.model.entry import Entry
from corpora.text.comparison import is_blank
from harness.annotators.annotator import Find, Search
from harness.core.calls import Calls, Ending, Reply, Request
from harness.core.failures import UsageError
from harness.endpoint.budget import LOCAL, Prices
from harness.endpoint.endpoints import Endpoint, KeySource, chat_endpoint, find_key
from harness.endpoint.offline import why_secret
from harness.method.completions import Completions
from scoring.core.setup import Translation
from scoring.packs.judge_replies import CONTRACTS, JudgeContract, JudgeVerdict, parse_reply

MOST_TOKENS = 4096
"""Output tokens of a judgement, a judge's thoughts included."""

MOST_EXPLAINED = 4000
"""Characters of an explanation that are kept."""

MOST_TURNS = 50
"""Turns of a conversation that are judged; a record with more is not judged at all."""


class JudgeFacts(BaseModel):
    """Who judged, and by which prompt; on the card as ``scoring.annotators``."""

    model_config = ConfigDict(frozen=True)

    model: str
    endpoint: str
    """Host."""
    temperature: float = 0.0
    prompt: str
    """Name of the prompt's version."""
    prompt_sha256: str


@dataclass(frozen=True, slots=True)
class _Kind:
    """What one judge is shown."""

    prompt: str
    questions: Callable[[Translation], Sequence[JsonObject]]
    """Return what is put to it: one object, or one for each turn; none where there is nothing to judge."""
    turns: bool = False


class JudgeAnnotator:
    """Asks for one judgement of each output; of a conversation, one of each turn. See ``AskingAnnotator``."""

    slow = True
    apart = True

    def __init__(self, id_: str, completions: Completions) -> None:
        self.id = id_
        self._kind = _KINDS[id_]
        self._contract = CONTRACTS[id_]
        self._completions = completions
        self._prompt = judge_prompt(self._kind.prompt)
        self.endpoint: str | None = completions.endpoint.url
        """URL of the server that is sent the outputs."""
        self.facts = JudgeFacts(
            model=completions.model,
            endpoint=urlsplit(completions.endpoint.url).hostname or completions.endpoint.name,
            prompt=self._kind.prompt,
            prompt_sha256=sha256(self._prompt.encode()).hexdigest(),
        )
        facts = self.facts.model_dump(mode="json") | {"url": completions.endpoint.url}
        self.maker = json.dumps({"judge": id_, **facts}, sort_keys=True)

    def check_budget(self) -> None:
        try:
            self._completions.check_budget()
        except UsageError as error:
            raise UsageError(f"--judge {self.facts.model}: {error}") from None

    async def ask(
        self, translations: Sequence[Translation], calls: Calls
    ) -> list[JsonObject | list[JsonObject] | None]:
        """Return of each output a judgement as JSON values, of a conversation a list of them."""
        judgements: list[JsonObject | list[JsonObject] | None] = []
        for translation in translations:
            secret = translation.entry.secret
            given = [
                _stored(judgement(self._contract, await calls.send(request)), secret=secret)
                for request in self.requests(translation)
            ]
            one = given[0] if given else None
            judgements.append(given if given and self._kind.turns else one)
        return judgements

    def close(self) -> None:
        """Close nothing; see ``AskingAnnotator``."""

    def requests(self, translation: Translation) -> list[Request]:
        if is_blank(translation.output):
            return []
        system = {"role": "system", "content": self._prompt}
        return [
            self._completions.request(
                [system, {"role": "user", "content": json.dumps(question, ensure_ascii=False)}],
                accept=lambda reply: judgement(self._contract, reply).score is not None,
            )
            for question in self._kind.questions(translation)
        ]


def judgement(contract: JudgeContract, reply: Reply) -> JudgeVerdict:
    """Read a reply; one that was cut or stopped is no judgement, whatever it begins with."""
    match reply.ending:
        case Ending.WHOLE:
            return parse_reply(contract, reply.text)
        case Ending.CUT:
            return JudgeVerdict(None, reason=f"the reply was cut at {MOST_TOKENS:,} output tokens")
        case _:
            return JudgeVerdict(None, reason="the provider stopped the reply")


def _stored(given: JudgeVerdict, *, secret: bool) -> JsonObject:
    """Return a judgement as it is kept with its entry; the explanation of a secret one may quote it, and is omitted."""
    if given.score is None:
        return {"score": None, "reason": given.reason or "no score"}
    explanation = "" if secret else given.explanation[:MOST_EXPLAINED]
    return {"score": given.score, **({"explanation": explanation} if explanation else {})}


def judge_prompt(name: str) -> str:
    file = resources.files("harness.inputs").joinpath("prompts", "judges", f"{name}.txt")
    return file.read_text(encoding="utf-8").strip()


def find(search: Search) -> Find | None:
    """Make the judge where an endpoint was named; None where none was. UsageError where it cannot be had."""
    where, model = search.told.get("judge"), search.told.get("judge_model")
    if where is None:
        if model is not None:
            raise UsageError("--judge-model names a model: name its endpoint with --judge.")
        return None
    check_place(chat_endpoint(where), model or "", search.entries, offline=search.offline)
    made = make_judge(search.id, where, model, prices=search.prices)
    return Find(made, made.facts)


def check_place(endpoint: Endpoint, model: str, entries: Sequence[Entry], *, offline: bool) -> None:
    """Raise UsageError where the texts of these entries must not go to a judge at this endpoint.

    It comes before the judge's key is looked for: nobody is to get a key for what is refused then.
    """
    secret = any(entry.secret for entry in entries)
    if not (secret or offline):
        return
    why = why_secret(entries) if secret else "--offline is on"
    if not endpoint.local:
        raise UsageError(
            f"{why}, and the judge is on another machine. Name an endpoint on this machine with "
            "--judge, or leave it out."
        )
    if model.strip().casefold().endswith("cloud"):
        raise UsageError(
            f"{why}, and the model {model} is named as one of a cloud: a local server "
            "such as Ollama would send the texts there. Name a model that runs on this machine."
        )


def make_judge(
    id_: str, where: str, model: str | None, *, key: KeySource = find_key, prices: Path | None = None
) -> JudgeAnnotator:
    """Make a judge for an endpoint's preset name or URL; UsageError says what is missing. Nothing is asked yet."""
    if not model:
        raise UsageError("--judge names an endpoint: name its model with --judge-model.")
    endpoint = chat_endpoint(where)
    price = Prices(prices).price(endpoint.name, model)
    completions = Completions(
        endpoint=endpoint,
        model=model,
        temperature=0.0,
        max_tokens=MOST_TOKENS,
        body={},
        key=key(endpoint),
        price=LOCAL if price is None and endpoint.local else price,
        replicate=0,
    )
    return JudgeAnnotator(id_, completions)


def _question(translation: Translation) -> dict[str, str]:
    source = translation.entry.source
    return {} if is_blank(source) else {"question": source}


def _reference(translation: Translation) -> dict[str, str]:
    reference = translation.entry.reference
    return {} if is_blank(reference) else {"reference": reference}


def _meaning(translation: Translation) -> Sequence[JsonObject]:
    """Question, expected answer and answer; nothing where there is no expected answer to compare with."""
    expected = translation.entry.reference
    if is_blank(expected):
        return []
    return [{**_question(translation), "expected": expected, "answer": translation.output}]


def _any_answer(translation: Translation) -> Sequence[JsonObject]:
    return [{**_question(translation), **_reference(translation), "candidate": translation.output}]


def _beside_reference(translation: Translation) -> Sequence[JsonObject]:
    return _any_answer(translation) if _reference(translation) else []


def _turns(translation: Translation) -> Sequence[JsonObject]:
    """One object a turn, with the turns before it and the answers that were given to them."""
    turns = translation.given("turns")
    try:
        answers = json.loads(translation.output)
    except (ValueError, RecursionError):
        return []
    if not isinstance(answers, list) or not all(isinstance(item, str) for item in answers):
        return []
    if not isinstance(turns, list) or not 0 < len(turns) <= MOST_TURNS or len(answers) < len(turns):
        return []
    turn_fields, before = list[JsonObject](), list[dict[str, str]]()
    for turn, answer in zip(turns, answers, strict=False):
        turn_mapping = turn if isinstance(turn, Mapping) else {}
        user, reference = turn_mapping.get("user"), turn_mapping.get("reference")
        if not isinstance(user, str) or is_blank(answer):
            return []
        known = {} if not isinstance(reference, str) else {"reference": reference}
        turn_fields.append({"conversation": list(before), "question": user, **known, "candidate": answer})
        before.append({"user": user, "assistant": answer})
    return turn_fields


_KINDS: Final = {
    "judge_semantic": _Kind("semantic-v1", _meaning),
    "judge_binary": _Kind("binary-v1", _beside_reference),
    "judge_detailed": _Kind("detailed-v1", _any_answer),
    "judge_redteaming": _Kind(
        "redteaming-v1", lambda translation: [{**_question(translation), "candidate": translation.output}]
    ),
    "judge_big_bench_audio": _Kind("big_bench_audio-v1", _beside_reference),
    "judge_mt_bench": _Kind("mt_bench-v1", _turns, turns=True),
}
"""By the id of the judge, which is that of its annotation."""

JUDGES: Final = tuple(_KINDS)
