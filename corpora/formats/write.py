"""Writes a corpus in any form; what a form cannot carry is found by reading the text back."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpora.files.problems import CorpusError, Findings, shown
from corpora.formats.encode import encode
from corpora.formats.load import File, read
from corpora.model.corpus import Corpus, Form, dataset_fields, entry_fields, with_tags_of

_GIVEN_AGAIN = ("id", "source_language", "target_language")
"""Envelope fields that the reader of two text files gives as options."""


def write(
    corpus: Corpus,
    path: str | Path,
    form: Form | str,
    *,
    reference: str | Path | None = None,
    lossy: bool = False,
    allow_secret: bool = False,
) -> None:
    """Write a corpus so that reading the file gives the same corpus again.

    reference: the second file of the parallel form. lossy: write although the form cannot carry
    everything. allow_secret: write entries of secret segments. Files appear whole or not at all, and
    only their owner can read them. Raises CorpusError where something would be lost or leak.
    """
    form = Form(form)
    findings = Findings(str(path))
    if not form.written:
        findings.error(f"The form {form} is read and not written.", "Choose another one.")
    _check_secret(corpus, allow_secret, findings)
    paths = _paths(path, reference, form, findings)
    findings.stop_if_failed()
    if lossy and form is Form.PARALLEL:
        corpus = _on_one_line(corpus)
    data = _bytes(corpus, form, findings)
    if not lossy:
        _check_lossless(corpus, form, [File(str(p), d) for p, d in zip(paths, data, strict=True)])
    _replace(paths, data, findings)


def _bytes(corpus: Corpus, form: Form, findings: Findings) -> list[bytes]:
    try:
        return [text.encode() for text in encode(corpus, form)]
    except UnicodeEncodeError:
        findings.error("A text holds half a surrogate pair.", "Correct the text.")
    except (TypeError, ValueError, RecursionError):
        findings.error("A field holds a value that JSON has not.", "Use texts and finite numbers.")
    raise findings.failure()


def losses(corpus: Corpus, form: Form, files: list[File]) -> list[str]:
    """Name what the files would not give back: envelope fields, entry fields with counts."""
    envelope = dataset_fields(corpus.dataset)
    given = {name: envelope[name] for name in _GIVEN_AGAIN} if form is Form.PARALLEL else None
    try:
        back = read(files, form=form, dataset=given)
    except CorpusError as error:
        first = error.problems[0]
        return [f"the file could not be read again ({first.message})"]
    lost = [f"dataset.{name}" for name in _unequal(envelope, dataset_fields(back.dataset))]
    if len(back.entries) != len(corpus.entries):
        return [*lost, "entries"]
    fields: Counter[str] = Counter()
    for ours, theirs in zip(corpus.entries, back.entries, strict=True):
        tagged = with_tags_of(corpus.dataset, ours)  # a store may keep it without them
        if tagged != theirs:
            fields.update(_unequal(entry_fields(tagged), entry_fields(theirs)))
    return lost + [f"{name} ({count} entries)" for name, count in fields.items()]


def _unequal(ours: dict[str, Any], theirs: dict[str, Any]) -> Iterable[str]:
    missing = object()
    names = dict.fromkeys((*ours, *theirs))
    return [shown(n) for n in names if ours.get(n, missing) != theirs.get(n, missing)]


def _check_lossless(corpus: Corpus, form: Form, files: list[File]) -> None:
    lost = losses(corpus, form, files)
    if lost:
        findings = Findings(files[0].name)
        findings.error(
            f"The form {form} would lose: {', '.join(lost[:12])}.",
            "Choose another form (specification and jsonl carry everything), "
            "or allow the loss (--allow-loss).",
        )
        raise findings.failure()


def _check_secret(corpus: Corpus, allowed: bool, findings: Findings) -> None:
    secret = sum(entry.secret for entry in corpus.entries)
    if secret and not allowed and corpus.dataset.terms.local_only:
        findings.error(
            f"The terms of the corpus keep its {secret} entries here ({corpus.dataset.terms.because}).",
            "Leave it where it is, or allow it (--allow-secret); what is written carries the term.",
        )
    elif secret and not allowed:
        findings.error(
            f"{secret} entries belong to secret segments (gold_standard, held_out).",
            "Write only public ones (--segment development), or allow it (--allow-secret).",
        )


def _paths(
    path: str | Path, reference: str | Path | None, form: Form, findings: Findings
) -> list[Path]:
    if form is Form.PARALLEL and reference is None:
        findings.error(
            "The parallel form is two files.", "Name the reference file too (--reference-output)."
        )
    if form is not Form.PARALLEL and reference is not None:
        findings.error(f"The form {form} is one file.", "Leave the reference file out.")
    return [Path(path)] if reference is None else [Path(path), Path(reference)]


def _on_one_line(corpus: Corpus) -> Corpus:
    """Fold line breaks inside texts, which would shift every pair after them."""
    entries = tuple(
        entry.model_copy(
            update={
                "source": " ".join(entry.source.splitlines()),
                "reference": " ".join(entry.reference.splitlines()),
            }
        )
        for entry in corpus.entries
    )
    return replace(corpus, entries=entries)


def _replace(paths: list[Path], contents: list[bytes], findings: Findings) -> None:
    """Replace every file only after all of them are safely on the disk."""
    written: list[tuple[str, Path]] = []
    try:
        for path, content in zip(paths, contents, strict=True):
            handle, name = tempfile.mkstemp(prefix=".corpus-", dir=path.parent)
            written.append((name, path))
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for name, path in written:
            Path(name).replace(path)
    except OSError as error:
        findings.error(f"The file cannot be written: {error.strerror}.", "Check folder and disk.")
        raise findings.failure() from None
    finally:
        for name, _ in written:
            with suppress(OSError):
                Path(name).unlink(missing_ok=True)
