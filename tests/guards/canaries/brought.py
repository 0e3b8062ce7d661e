"""What somebody brings: a corpus of secret texts, methods that fail loudly, a service that quotes, and people who write."""

from __future__ import annotations

import json
from pathlib import Path

from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import seal
from review.files.batch import Batch
from review.files.manifests import BatchManifest
from review.files.ratings import sign_ratings
from review.log.laptop import Draft, Laptop
from review.log.merge import export_events
from review.log.payloads import Adjudicate, Comment, Suggest, Translate
from review.office.intake.importing import import_bytes
from review.office.store.store import Office
from tests.guards.canaries.place import STEM
from tests.harness.annotators.judged import is_judge
from tests.harness.scripted import Answer, Asked, completion, error, json_answer
from tests.review.office.made import WALL, vouch_for

SEGMENTS = (*["gold_standard"] * 12, "held_out", "development")


def said(what: str, number: int) -> str:
    """Return a sentence of which each word is a canary, some in capitals and some with letters of two code points."""
    capital, composed = STEM.capitalize(), f"{STEM}ŝĉa\u0302"
    return f"{capital}{what}{number} {STEM}{number % 3} {composed}, {STEM.upper()}Ŭ {STEM}n."


def corpus(path: Path, *, all_kept: bool = True) -> Path:
    """Write a corpus with a canary in every field that an owner fills; with an open segment where a vault keeps all."""
    entries = [
        {"id": n, "source": said("source", n), "reference": said("reference", n), "segment": segment,
         "variants": [said("variant", n)], "notes": said("note", n), "variety": said("variety", n),
         "difficulty": 1 + n % 5, "asked_by": said("person", n), **_free(n, segment)}
        for n, segment in enumerate(SEGMENTS)
        if all_kept or segment != "development"
    ]  # fmt: skip
    dataset = {
        "id": "words", "version": "1", "language_pair": "EN→EO", "source_language": "en", "target_language": "eo",
    }  # fmt: skip
    path.write_text(json.dumps({"dataset": dataset, "entries": entries}), "utf-8")
    return path


def _free(number: int, segment: str) -> dict[str, str]:
    """Return tags that are on no list; what an entry that its file calls open says there is quoted in warnings."""
    if segment == "development":
        return {}
    return {name: said(name, number) for name in ("register", "context", "provenance")}


METHODS = """
import gc, logging, os, signal, sys, threading, warnings
from pathlib import Path
from harness.method.method import MethodClass, Output, Setup

HERE = Path(__file__).parent


class Quoting(Exception):
    pass


class Gone:
    def __init__(self, text):
        self.text = text

    def __del__(self):
        raise Quoting(self.text)


class Method:
    endpoint = None
    kind = ""

    def __init__(self, options):
        self.setup = Setup(method=self.kind, method_class=MethodClass.CUSTOM_PLUGIN,
                           method_version="1", model_slug=self.kind, condition="baseline")
        self.asked = 0

    async def translate(self, entries, calls):
        return [self.one(entry.source) for entry in entries]

    def one(self, source):
        self.asked += 1
        if self.asked == 4:
            self.fails(source)
        return Output(f"{source} said back", raw=f"raw {source}")

    def fails(self, source):
        pass


class Echo(Method):
    kind = "echo"


class Loud(Method):
    kind = "loud"

    def fails(self, source):
        warnings.warn(source)
        logging.getLogger("plug-in").error("it says %s", source)
        try:
            raise Quoting(source)
        except Quoting:
            logging.getLogger("plug-in").exception(source)
        Gone(source)
        gc.collect()
        thread = threading.Thread(target=self.breaks, args=(source,))
        thread.start()
        thread.join()
        self.breaks(source)

    def breaks(self, source):
        raise Quoting(f"cannot translate {source}")


class Dies(Method):
    kind = "dies"

    def fails(self, source):
        if not (HERE / "died").exists():
            (HERE / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)


class Aborts(Method):
    kind = "aborts"

    def fails(self, source):
        os.abort()


class Ours(Method):
    kind = "ours"

    def fails(self, source):
        # a fault of ours, in the middle of what stores rows, with the text in its message
        from harness.run import recorder

        def broken(*_):
            raise KeyError(source)
        recorder.add_results = broken
"""


def answering(asked: Asked) -> Answer:
    """Answer as a model that thinks aloud, as a judge that explains, and now and then as a server that quotes."""
    if asked.number % 7 == 2:
        return error(500, f"no: {asked.source}", {"retry-after": "0"})
    if asked.number % 7 == 5:
        return error(400, f"cannot say {asked.source}")
    if is_judge(asked):
        return json_answer(completion(json.dumps({"score": 0.5, "explanation": said("because", 0)})))
    reply = completion(f"<think>{said('thought', 1)}</think>{asked.source}")
    reply["choices"][0]["message"]["reasoning_content"] = said("thought", 2)
    return json_answer(reply)


# what people write about the secret sentences of a review: at a laptop, and at the office that takes their file in

WRITTEN = {"comment", "wording", "translated", "draft", "noted"}


def speak(folder: Path) -> set[str]:
    """Comment, word better, translate, type and decide in the newest review; gives what can be read through the program.

    Laptop and office have one data folder.
    """
    organisation = Identity.load(folder, Role.ORGANISATION)
    with Office.open(folder) as office, Laptop.open(folder) as laptop:
        review = office.review("last")
        [(batch, manifest), *_] = review.manifests.items()
        head = BatchManifest.model_validate_json(manifest)
        person, order = next((who, head.order(who)) for who in review.key.orders if head.order(who))
        laptop.add_batch(manifest, b"", secret=True)
        about = {"wall": WALL, "reviewer": person, "batch": batch, "item": order[0]}
        judged = {"position": 0, "active_ms": 1, "face": "lines", "version": "0"}
        laptop.record(
            [Comment(**about, text=said("comment", 0)), Suggest(**about, text=said("wording", 0)),
             Translate(**about, **judged, text=said("translated", 0))],
            (batch, person),
            [Draft(order[1], "comment", said("draft", 0))],
        )  # fmt: skip
        events = export_events(laptop, batch)
        opened = Batch(head, manifest, (), (), b"")
        archive = sign_ratings(events, opened, Identity.load(folder, Role.LAPTOP))
        data = seal(archive, head.organisation.recipients)
        vouch_for(office, organisation, data)
        import_bytes(office, [organisation.age], data, "a file")
        decided = {"wall": WALL, "batch": batch, "item": order[0]}
        office.append(review, Adjudicate(**decided, harmful=None, note=said("noted", 0)))
        office.append(review, Adjudicate(**decided, harmful=True, note="", reason="It is published", by="us"))
        told = [str(each.payload) for each in (*office.events(review), *laptop.events())]
        told += [str(each.text) for each in laptop.drafts(batch, person)]
        return {what for what in WRITTEN if any(said(what, 0) in each for each in told)}
