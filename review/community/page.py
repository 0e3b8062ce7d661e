"""The page of an export: what each file is, for somebody who has nothing but a text editor and a browser."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from corpora.text.visible import plain
from harness.card.schema import card_schema
from harness.core.canonical import canonical_bytes
from review.community.folder import OutFile

_INTRODUCTION: Final = """\
This folder is everything that the program Rosetta kept of the corpora named below, and of the work with them. It is yours.
Nothing in it needs Rosetta: all files are text in UTF-8, in forms that spreadsheets, text editors and every programming
language read (JSON, JSON Lines, tables with tabs or commas), or archives in ZIP."""

_ENDS: Final = """\
JSON is text with names and values. JSON Lines (.jsonl) has one JSON object on each line. A table (.tsv, .csv) opens in a
spreadsheet: import it as UTF-8, and its columns as text, so that a cell that begins with = is no formula."""

_CHECK: Final = """\
To see that nothing was changed or lost, on Linux or macOS, in this folder:

    sha256sum --check SHA256SUMS          (macOS: shasum -a 256 --check SHA256SUMS)
    openssl pkeyutl -verify -rawin -pubin -inkey SIGNING-KEY.pem -in SHA256SUMS -sigfile SHA256SUMS.sig

The first compares every file with the list, the second the list with its signature. Anyone who changes files can sign again with
another key: ask anyone who made this export for the six words of theirs. They must be: {words}"""

_KINDS: Final = (
    ("corpora/*.json", "a corpus: in `dataset` what is told of all of it (name, languages, licence, terms), in `entries` the sentences: id, source, reference, other accepted wordings (variants), segment, tags, notes"),
    ("corpora/*.tsv", "the same as a table, one sentence a line; the lines before it, which begin with #, tell of all of it"),
    ("corpora/*/*", "the very file that the corpus was read from, and the terms that lay next to it"),
    ("runs/*/card.json", "the record of one evaluation: method, model, settings, data, every score with its interval, cost, and in `results` one row for each sentence: source, reference, what the method wrote (predicted), scores. Names and types of all fields are in run-card.schema.json"),
    ("runs/*/card.seal.json", "the signature on that card: `card` is the hash that the card states as run_card_hash, `by` the public key, `signature` the Ed25519 signature over the other fields as canonical JSON (RFC 8785)"),
    ("runs/*/certificate-*.json", "what speakers decided about this run: outcome, numbers, who signed"),
    ("runs/*/certificate-*.sig", "the organisation's Ed25519 signature over the bytes of that file"),
    ("runs/*/rows.jsonl", "the rows of the card, one a line"),
    ("runs/*/rows.csv", "the same as a table"),
    ("runs/*/secret-rows.jsonl", "rows of a run with secret sentences, with their texts: keep it as you keep these sentences"),
    ("runs/*/*.rosetta-ownership", "who owns the method of this run: the terms, and what organisation and developer signed to them"),
    ("methods/handed-over/*", "a method as it was submitted to the community, byte for byte"),
    ("methods/*.json", "everything that a method was told: model, prompt, settings. The file's name is the `setup_hash` of the cards of its runs"),
    ("reviews/*/ratings.csv", "what speakers said, as a table, people as letters: rating, comment, suggested wording"),
    ("reviews/*/events.jsonl", "everything that speakers and organisation did, one event a line, each naming the hash of the one before it"),
    ("reviews/*/items.jsonl", "what speakers saw: source and translation, by the item's number"),
    ("reviews/*/consent.jsonl", "who agreed to what, by the tags of the log"),
    ("reviews/*/answer-key.json", "which item came from which run, and which were tests"),
    ("reviews/*/policy.toml", "the rule by which the verdict was found"),
    ("reviews/*/batch-*.json", "what went out to the speakers, as the organisation signed it: consent text, guide, questions"),
    ("reviews/*/batch-*.sig", "its Ed25519 signature"),
    ("reviews/*/run-*-card.json", "the card of a reviewed run"),
    ("reviews/*/*.rosetta-evidence", "a certificate with all that its verdict rests on and a program that checks it: a ZIP archive with a README of its own"),
    ("reviews/*/*.rosetta-export", "everything of a review of secret sentences in one file, encrypted with age for the review's recipients: age --decrypt --identity KEYFILE opens it to a ZIP archive"),
    ("reviews/*/*-page.html", "the result in plain words"),
    ("reviews/*/translations.jsonl", "translations that speakers gave and agreed to share, as a corpus"),
    ("vault/log.jsonl", "who opened what of the vault when and what for, one signed line each"),
    ("vault/*", "the vault, sealed as it is: only its keepers open it; README.txt and vault.json in it tell more"),
    ("consent/*", "notices by which something was taken back, or given again, signed"),
    ("keys.tsv", "the public halves of keys: whose, signing key (Ed25519, hexadecimal), recipient (age), six words to compare"),
    ("about.json", "when and by which key this export was made, which corpora it holds, and what was left out"),
    ("run-card.schema.json", "the JSON Schema of run cards: names, types and meaning of their fields"),
)  # fmt: skip
"""Pattern of a path → what such a file is; the first that fits counts."""

_SUMS: Final = {
    "SHA256SUMS": "the hash (SHA-256) of every file",
    "SHA256SUMS.sig": "its Ed25519 signature",
    "SIGNING-KEY.pem": "the public key to check it with",
}


def kind_of(path: str) -> str:
    """Return what a file of an export is; empty for one of which the page says nothing."""
    return next((words for pattern, words in _KINDS if fnmatchcase(path, pattern)), "")


def pages(about: Mapping[str, Any], paths: Sequence[str]) -> Iterator[OutFile]:
    """Yield the page, as text and as plain HTML, and the schema of cards; ``paths`` are all other files."""
    listed = sorted({*paths, "about.json", "run-card.schema.json"})
    yield OutFile("run-card.schema.json", canonical_bytes(card_schema()) + b"\n")
    yield OutFile("README.txt", _text(about, listed).encode())
    yield OutFile("index.html", _html(about, listed).encode())


def _facts(about: Mapping[str, Any]) -> list[str]:
    corpora = [
        f"{plain(corpus['id'])} (SHA-256 of its file {corpus['sha256']})"
        for corpus in about["corpora"]
    ]
    return [
        f"Made {about['made']} by {about['program']}.",
        *(f"Corpus: {corpus}" for corpus in corpora),
    ]


def _left_out(about: Mapping[str, Any]) -> list[str]:
    return [plain(reason) for reason in about["left_out"]] or ["nothing that this computer had"]


def _text(about: Mapping[str, Any], paths: Sequence[str]) -> str:
    kinds = "\n".join(f"{pattern}\n    {words}" for pattern, words in _told(paths))
    left = "\n".join(f"- {reason}" for reason in _left_out(about))
    facts = "\n".join(_facts(about))
    check = _CHECK.format(words=about["six_words"])
    return (
        f"{_INTRODUCTION}\n\n{facts}\n\nWHAT THE FILES ARE\n\n{kinds}\n\n{_ENDS}\n\nWHAT WAS LEFT OUT\n\n{left}\n\n"
        f"IS IT WHOLE?\n\n{check}\n\nThe same, with a list of all files to click on, is index.html.\n"
    )


def _told(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the kinds of files that there are, and those that every export has."""
    for pattern, words in _KINDS:
        if any(kind_of(path) == words for path in paths):
            yield pattern, words
    yield from _SUMS.items()


def _html(about: Mapping[str, Any], paths: Sequence[str]) -> str:
    def listed(items: Sequence[str]) -> str:
        return "<ul>\n" + "".join(f"<li>{html.escape(item)}</li>\n" for item in items) + "</ul>\n"

    rows = "".join(
        f'<tr><td><a href="{html.escape(path, quote=True)}">{html.escape(path)}</a></td><td>{html.escape(words)}</td></tr>\n'
        for path, words in [*((path, kind_of(path)) for path in paths), *_SUMS.items()]
    )
    check = html.escape(_CHECK.format(words=about["six_words"]))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>What belongs to the community</title></head>\n<body>\n'
        f"<h1>What belongs to the community</h1>\n<p>{html.escape(_INTRODUCTION)}</p>\n{listed(_facts(about))}"
        f"<h2>The files</h2>\n<p>{html.escape(_ENDS)}</p>\n<table>\n{rows}</table>\n"
        f"<h2>What was left out</h2>\n{listed(_left_out(about))}<h2>Is it whole?</h2>\n<pre>{check}</pre>\n</body>\n</html>\n"
    )
