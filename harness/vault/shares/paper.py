"""A keeper's share as a page to print: 33 words, and in plain words what to do with them. No network is asked for it."""

from __future__ import annotations

import textwrap
from html import escape

from harness.vault.folder import VaultState
from harness.vault.records import Dealt, Founded
from harness.vault.secret_text import SecretText
from harness.vault.shares.dealing import dealt, whose
from harness.vault.shares.split import WORDS, KeyShare

_COLUMNS = 3

_TELLS = (
    (
        "What this is",
        (
            "These words are one of {count} shares of the key of this vault. {threshold} different shares together open it. "
            "This one alone, or with fewer than {threshold}, opens nothing and tells nothing."
        ),
    ),
    (
        "Keep it",
        (
            "Keep it where you keep what nobody else may read, not beside the share of another keeper. Do not photograph, copy, scan "
            "or send it. Delete the file from which it was printed, and empty the wastebasket."
        ),
    ),
    (
        "Who may ask for it",
        (
            "Nobody, by telephone, letter, mail or web page. You type these words yourself, into the program Rosetta on a computer "
            "that you trust, when the keepers have come together for a purpose that you know: rosetta vault open VAULT CORPUS --shares"
        ),
    ),
    (
        "When there are new shares",
        (
            "This page then no longer works together with theirs. Print the new share and burn this one: {threshold} old shares together still "
            "open earlier copies, and the vault itself unless its texts were sealed again."
        ),
    ),
    (
        "When it is lost or seen",
        (
            "Tell the other keepers on the same day, so that they make new shares: rosetta vault check-up VAULT --do shares. Once {lost} of "
            "the {count} shares are lost for good, nobody can ever open the vault again."
        ),
    ),
    (
        "Try it once a year",
        "rosetta vault share VAULT --check asks for these words and says whether they are right. It opens nothing.",
    ),
    (
        "En français",
        (
            "Cette page porte une part de la clé d'un coffre. Il faut {threshold} parts sur {count} pour l'ouvrir ; une seule n'ouvre "
            "rien. Gardez-la en lieu sûr, ne la photographiez pas et ne la donnez à personne. Si elle est perdue ou vue, prévenez "
            "les autres gardiens le jour même."
        ),
    ),
)

_PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
@page {{ size: A4; margin: 18mm }}
body {{ font: 11pt/1.35 sans-serif; max-width: 48em; color: #000; background: #fff }}
h1 {{ font-size: 16pt }} h2 {{ font-size: 11pt; margin: .8em 0 0 }} p {{ margin: .1em 0 }}
table {{ width: 100%; border: 2px solid #000; margin: 1em 0; font: 14pt monospace }}
td {{ padding: .12em .6em }} td:nth-child(odd) {{ text-align: right; color: #555 }}
</style></head><body>
<h1>{title}</h1>
{facts}
<table>
{rows}
</table>
{tells}
</body></html>
"""


def text_page(state: VaultState, share: KeyShare) -> SecretText:
    """Return the page as plain text of at most 80 letters a line, but for names; VaultError where the share is not of now."""
    title, facts, rows, tells = _told(state, share)
    table = ["   ".join(f"{number:>2} {word:<10}" for number, word in row).rstrip() for row in rows]
    blocks = [title.upper(), "\n".join(facts), "\n".join(table)]
    blocks += [f"{head}\n{textwrap.fill(text, 78)}" for head, text in tells]
    return SecretText("\n\n".join(blocks) + "\n")


def html_page(state: VaultState, share: KeyShare) -> SecretText:
    """Return the page as HTML that loads nothing; VaultError where the share is not of now."""
    title, facts, rows, tells = _told(state, share)
    cells = (
        "".join(f"<td>{number}</td><td>{escape(word)}</td>" for number, word in row) for row in rows
    )
    return SecretText(
        _PAGE.format(
            title=escape(title),
            facts="\n".join(f"<p>{escape(fact)}</p>" for fact in facts),
            rows="\n".join(f"<tr>{cell}</tr>" for cell in cells),
            tells="\n".join(f"<h2>{escape(h)}</h2><p>{escape(text)}</p>" for h, text in tells),
        )
    )


def lost_for_good(count: int, threshold: int) -> int:
    """Return how many of ``count`` shares must be lost until fewer than ``threshold`` are left."""
    return count - threshold + 1


def _told(
    state: VaultState, share: KeyShare
) -> tuple[str, list[str], list[list[tuple[int, str]]], list[tuple[str, str]]]:
    keeper, split, count = whose(state, share), dealt(state), len(state.keepers)
    acts = [line.record for line in state.lines if isinstance(line.record.act, Founded | Dealt)]
    facts = [
        f"Vault: {_shown(state.founded.name)}, number {state.head.vault[:16]}",
        f"Keeper: {_shown(keeper.name)}",
        f"Share {share.place + 1} of {count}, dealt on {acts[-1].when[:10]} (splitting {split.number}); {split.threshold} open together",
    ]
    words = list(enumerate(share.words.reveal().split(), 1))
    high = WORDS // _COLUMNS
    rows = [words[row::high] for row in range(high)]
    lost = lost_for_good(count, split.threshold)
    tells = [
        (head, text.format(count=count, threshold=split.threshold, lost=lost))
        for head, text in _TELLS
    ]
    return "Share of a vault: keep secret", facts, rows, tells


def _shown(name: str) -> str:
    return " ".join(
        "".join(character if character.isprintable() else " " for character in name).split()
    )
