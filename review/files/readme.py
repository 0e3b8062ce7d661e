"""The page in each file that says in plain words what it is, for whoever opens it in other ways."""

from __future__ import annotations

from review.files.batch_form import BatchManifest
from review.files.ratings_form import RatingsManifest
from review.sealed.signature import public_pem

_BATCH = """\
{title}

This file holds sentences and their translations for people to rate. Open it with the program
Rosetta, not with this one: then each person gets the sentences in an order of their own, and the
ratings find their way back. It was made by {organisation}.

Ce fichier contient des phrases et leurs traductions, à évaluer par des personnes. Ouvrez-le avec
le programme Rosetta. Il a été préparé par : {organisation}.

It is signed with this key:
{pem}
openssl pkeyutl -verify -rawin -pubin -inkey KEY.pem -in manifest.json -sigfile manifest.sig
"""

_SENTENCES = """\
{title}

This file holds sentences for people to translate. Open it with the program Rosetta in its window
(rosetta-review), not with this one: then each person gets the sentences in an order of their own,
and the translations find their way back. It was made by {organisation}.

Ce fichier contient des phrases à traduire par des personnes. Ouvrez-le avec le programme Rosetta,
dans sa fenêtre (rosetta-review). Il a été préparé par : {organisation}.

It is signed with this key:
{pem}
openssl pkeyutl -verify -rawin -pubin -inkey KEY.pem -in manifest.json -sigfile manifest.sig
"""

_RATINGS = """\
{review}

This file holds what people said about translations: their ratings, reasons and comments, or the
translations that they gave. No names are in it; each person has a code. It belongs to these people and to the organisation that asked
them. Please do not pass it on. `rosetta review import` takes the sealed file in.

Ce fichier contient les évaluations de plusieurs personnes. Aucun nom n'y figure : chaque personne a
un code. Il appartient à ces personnes et à l'organisation qui les a consultées. Merci de ne pas le
transmettre à d'autres.

events.jsonl has one event a line. manifest.json names its SHA-256, and is signed with the key of the
laptop on which it was written:
{pem}
openssl pkeyutl -verify -rawin -pubin -inkey KEY.pem -in manifest.json -sigfile manifest.sig
"""


def batch_readme(manifest: BatchManifest) -> bytes:
    """Return the page for a batch; it follows from the manifest alone."""
    organisation = manifest.organisation
    page = _SENTENCES if manifest.task == "translate" else _BATCH
    return page.format(
        title=_one_line(manifest.title),
        organisation=_one_line(organisation.name),
        pem=public_pem(organisation.signing_key),
    ).encode()


def ratings_readme(manifest: RatingsManifest) -> bytes:
    """Return the page for a file of ratings; it follows from the manifest alone."""
    return _RATINGS.format(
        review=_one_line(manifest.review), pem=public_pem(manifest.laptop.signing_key)
    ).encode()


def _one_line(text: str) -> str:
    """Return a name without anything that a terminal could take for a command."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
