"""Submissions for tests: a sample folder with the card of a real run, and bundles of whatever members are wanted."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from corpora.model.corpus import Selection
from harness import api
from harness.card.exporting import ExportForm, export_run
from harness.core.canonical import canonical_bytes
from harness.run.events import Control
from harness.run.running import execute_run
from harness.sealed.archive import MANIFEST, SIGNATURE, pack
from harness.sealed.keys import Identity, Role
from harness.store.sqlite.database import open_store
from harness.submission.folder import pack_folder
from harness.submission.members import SHAPE
from harness.submission.sample.authoring import SampleLane, sample_corpus, write_sample

MAKER = Identity.make(Role.COMPUTER)
TERMS = b"Be fair.\n"


@cache
def sample_card(lane: SampleLane = "data") -> bytes:
    """The card of a run of the sample over the first entries of its corpus."""
    corpus = api.open_corpus(api.CorpusRequest(sample_corpus()))
    with TemporaryDirectory() as place:
        folder = write_sample(Path(place) / "sample", "data")
        words = folder / "data" / "words.tsv"
        told: dict[str, Any] = {"glossary": words}
        method = "glossary"
        if lane == "code":
            from harness.submission.sample.word_by_word import WordByWord

            texts = WordByWord({"words": str(words)}).translate([e.source for e in corpus.reveal_here()])
            (folder / "outputs.txt").write_text("".join(f"{each}\n" for each in texts), "utf-8")
            method, told = "replay", {"outputs": folder / "outputs.txt"}
        store = Path(place) / "store.sqlite"
        with closing(open_store(store)):
            pass
        ready = api.start(store, api.ask(corpus, method, told, Selection(limit=12)))
        execute_run(store, ready.number, ready.cleared, lambda _: None, Control())
        with closing(open_store(store)) as connection:
            return export_run(connection, ready.number, ExportForm.CARD)


def sample_folder(folder: Path, lane: SampleLane = "data") -> Path:
    """Write the sample with its card, and terms beside it."""
    write_sample(folder, lane)
    (folder / "card.json").write_bytes(sample_card(lane))
    folder.with_name("terms.txt").write_bytes(TERMS)
    return folder


def sample_bundle(folder: Path, lane: SampleLane = "data") -> bytes:
    """Return the packed sample, terms accepted."""
    sample_folder(folder, lane)
    return pack_folder(folder, MAKER, terms=folder.with_name("terms.txt"))


def resigned(data: bytes, changed: Mapping[str, bytes | None], identity: Identity = MAKER, **manifest: Any) -> bytes:
    """Return a bundle with other members (None: without it), signed again as a hostile maker would; any name goes."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    head: dict[str, Any] = json.loads(members.pop(MANIFEST))
    del members[SIGNATURE]
    for name, content in changed.items():
        members.pop(name, None)
        if content is not None:
            members[name] = content
    head |= manifest
    head["members"] = {n: hashlib.sha256(c).hexdigest() for n, c in members.items()}
    content = canonical_bytes(head)
    return raw_zip({**members, MANIFEST: content, SIGNATURE: identity.sign(content)})


def raw_zip(members: Mapping[str, bytes], modes: Mapping[str, int] | None = None, double: str = "") -> bytes:
    """Write a zip as this program does it, with whatever names and modes."""
    if SHAPE.name and all(SHAPE.name.fullmatch(n) for n in members) and not modes and not double:
        return pack(members, SHAPE)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted([*members, *([double] if double else [])]):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = (modes or {}).get(name, 0o100644) << 16
            archive.writestr(entry, members[name])
    return made.getvalue()


def wheel(**members: bytes) -> bytes:
    """Return a wheel of one module, with further members by path."""
    made = io.BytesIO()
    name, version = "tiny", "1.0"
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": b"answer = 42\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
        **members,
    }
    with zipfile.ZipFile(made, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return made.getvalue()
