"""Shares as a vault keeps them: each sealed for its keeper, known by its check, and dealt again when keepers change.

What a vault's log has of a splitting (``KeySplit``) tells a right share from one of another vault, of before the shares
were dealt again, or that somebody made up. The opening key that shares give is compared with the log as well.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import textwrap
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from harness.core.failures import HarnessError
from harness.core.storage import PUBLISHED, private_folder, read_bytes, write_file
from harness.sealed.archive import SignedRecord, read_signed_record, signed_record
from harness.sealed.keys import Identity
from harness.sealed.sealing import seal, unseal
from harness.sealed.strict_records import FileError, FileProblem, Hex64, StrictRecord
from harness.vault.folder import VaultState
from harness.vault.key_shares import KEY_BYTES, NUMBERS, WORDS, KeyShare, OpeningKey, check_threshold, combine, split
from harness.vault.log import VaultError, moment, proved_bytes, splits_of
from harness.vault.secret_text import SecretText
from harness.vault.vault_records import Dealt, Founded, Keeper, KeySplit, Moment, SealedShare

HEADING: Final = b"rosetta-share/1\n"
"""Before the words of a sealed share, so that nothing else that is sealed for a keeper is taken for one."""

FORMER: Final = b"rosetta-former-key/1\n"
"""Before an opening key of before, in the file that keeps it for the one of now."""


def deal(
    key: OpeningKey, threshold: int, keepers: Sequence[Keeper], earlier: Iterable[KeySplit] = ()
) -> tuple[KeySplit, dict[str, bytes]]:
    """Split a key among keepers; gives what the log has of it, and the sealed shares by their SHA-256.

    ``earlier``: the splittings of this vault so far, none of which the new shares mix with.
    """
    check_threshold(threshold, len(keepers))
    taken = {key_split.number for key_split in earlier}
    number = secrets.choice([left for left in range(NUMBERS) if left not in taken])
    shares: dict[str, SealedShare] = {}
    files: dict[str, bytes] = {}
    for keeper, share in zip(keepers, split(key, threshold, len(keepers), number), strict=True):
        sealed = seal(HEADING + share.words.reveal().encode(), [keeper.recipient])
        file = hashlib.sha256(sealed).hexdigest()
        files[file] = sealed
        shares[keeper.signing_key] = SealedShare(file=file, check=share.check)
    public = {"recipient": key.recipient, "signing_key": key.signing_key}
    return KeySplit(number=number, threshold=threshold, **public, shares=shares), files


def proved(act: Dealt, prev: str, key: OpeningKey) -> Dealt:
    """Return an act with the signature of the keepers together; ``prev`` is the id of the line before it."""
    proof = base64.b64encode(key.sign(proved_bytes(prev, act))).decode()
    return act.model_copy(update={"proof": proof})


def seal_former(before: OpeningKey, now: OpeningKey) -> bytes:
    """Seal the opening key of before for the one of now, so that what stores keep under it opens with that one."""
    return seal(FORMER + before.secret, [now.recipient])


def former_keys(state: VaultState, key: OpeningKey) -> tuple[OpeningKey, ...]:
    """Return the opening keys that the vault had before ``key``, which is that of now; the latest first.

    It ends where an earlier version sealed the vault again, and kept no key of before, or somebody sealed another one in its place.
    """
    opening_keys: list[OpeningKey] = []
    acts = (line.record.act for line in state.lines)
    deals = [act for act in acts if isinstance(act, Dealt)]
    for act, before in zip(reversed(deals), reversed(splits_of(state.lines)[:-1]), strict=True):
        if not act.sealed_anew:
            continue
        former = _former_key(state, act, (opening_keys or [key])[-1])
        if former is None or former.recipient != before.recipient:
            break
        opening_keys.append(former)
    return tuple(opening_keys)


def _former_key(state: VaultState, act: Dealt, after: OpeningKey) -> OpeningKey | None:
    with suppress(FileError):
        content = unseal(state.file(act.former), [after.age]) if act.former else b""
        if content.startswith(FORMER) and len(content) == len(FORMER) + KEY_BYTES:
            return OpeningKey(content.removeprefix(FORMER))
    return None


def own_share(state: VaultState, identity: Identity) -> KeyShare:
    """Open the share of the keeper whose keys these are; VaultError where they have none, or what they have is no share."""
    sealed = dealt(state).shares.get(identity.public.signing_key)
    if sealed is None:
        raise VaultError(
            FileProblem.WRONG_KEY, "These keys are not those of a keeper of this vault, so there is no share for them."
        )
    heading, _, words = unseal(state.file(sealed.file), [identity.age]).partition(b"\n")
    if heading + b"\n" == HEADING and hashlib.sha256(words).hexdigest() == sealed.check:
        with suppress(VaultError):  # whoever dealt it can have written anything
            return KeyShare.read(words.decode("ascii", "replace"))
    raise VaultError(
        FileProblem.DAMAGED,
        "What was sealed for these keys is not their share: it was dealt wrong. Have the other keepers make "
        "new shares (rosetta vault check-up VAULT --do shares).",
    )


def whose(state: VaultState, share: KeyShare) -> Keeper:
    """Return the keeper whose share this is; VaultError says where it is of another vault, or of before a refresh."""
    split = dealt(state)
    for signing_key, sealed_share in split.shares.items():
        if sealed_share.check == share.check:
            return state.keepers[signing_key]
    for earlier in splits_of(state.lines)[:-1]:
        if share.check in {share.check for share in earlier.shares.values()}:
            raise VaultError(
                FileProblem.WRONG_KEY,
                "This share is from before the keepers got new ones, and does not work together with those. Take the newest card, "
                "or a keeper's own keys; destroy this one.",
            )
    raise VaultError(FileProblem.WRONG_KEY, "This is a share of another vault, or not a real one.")


def combined(state: VaultState, shares: Iterable[KeyShare]) -> OpeningKey:
    """Return the opening key of a vault out of shares of its keepers; VaultError says who is missing, or what is wrong."""
    split = dealt(state)
    here = {whose(state, share).signing_key: share for share in shares}
    if len(here) < split.threshold:
        names = ", ".join(state.keepers[key].name for key in here) or "nobody's"
        others = ", ".join(keeper.name for key, keeper in state.keepers.items() if key not in here)
        raise VaultError(
            FileProblem.LOCKED,
            f"This vault opens for {split.threshold} of its {len(state.keepers)} keepers together. {len(here)} of "
            f"{split.threshold} shares are here ({names}); {split.threshold - len(here)} more are needed, of: {others}.",
        )
    key = combine(here.values())
    if (key.recipient, key.signing_key) != (split.recipient, split.signing_key):
        raise VaultError(
            FileProblem.DAMAGED,
            "These shares were dealt wrong: together they give another key than that of this vault. Ask who dealt them (rosetta "
            "vault log), and use a copy of the vault from before.",
        )
    return key


def check_opener(state: VaultState, opener: OpeningKey | None) -> OpeningKey:
    """Return the opening key where it is that of this vault; VaultError where there is none, or another vault's."""
    split = dealt(state)
    if opener is None:
        names = ", ".join(keeper.name for keeper in state.keepers.values())
        raise VaultError(
            FileProblem.LOCKED,
            f"This vault opens for {split.threshold} of its {len(state.keepers)} keepers together, and for nobody alone: {names}. "
            "Bring them together on this computer (--with FILE for the keys of each, --with paper to type their printed words).",
        )
    if opener.recipient != split.recipient:
        raise VaultError(
            FileProblem.WRONG_KEY,
            "The shares that were brought together are those of another vault, or from before it was sealed again.",
        )
    return opener


def dealt(state: VaultState) -> KeySplit:
    """Return how the key of a vault is split now; VaultError where each of its keepers opens alone."""
    if state.split is None:
        raise VaultError(
            FileProblem.INVALID,
            "Each keeper opens this vault alone, so it has no shares. A vault that opens for several together is made with "
            "'rosetta vault init --threshold M'.",
        )
    return state.split


# ---- A keeper's share as a page to print: 33 words, and in plain words what to do with them. No
# network is asked for it.

_COLUMNS = 3


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
    from harness.core.html_pages import filled  # it loads Jinja, which only this page needs

    return SecretText(filled("harness.vault", "share.html.j2", title=title, facts=facts, rows=rows, tells=tells))


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
    numbers = {"count": count, "threshold": split.threshold, "lost": lost}
    paragraphs = tomllib.loads((Path(__file__).parent / "templates" / "share.toml").read_text("utf-8"))
    tells = [(head, text.format(**numbers)) for head, text in paragraphs.items()]
    return "Share of a vault: keep secret", facts, rows, tells


def _shown(name: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())


# ---- What keepers say of their shares: a small signed file that a keeper's program opened their
# share, and that it was right.
#
# It lies in the vault's folder, beside what the vault's head names, and is no part of the vault.
# All that it has of the share is the hash that the log has as well. A computer keeps what it saw
# of such files, so that a copy on a stick that went from keeper to keeper tells it of the vault
# at home too.

MOST_BYTES: Final = 2**12
_WHAT: Final = "what a keeper says of their share"


class ShareTried(StrictRecord):
    """That a keeper's keys opened the share that was dealt to them."""

    format: Literal["rosetta-share-tried/1"] = "rosetta-share-tried/1"
    vault: Hex64
    check: Hex64
    """SHA-256 of the share's words, as the log has it: it says which dealing the share is of."""
    when: Moment
    by: Hex64


class SignedShareTried(ShareTried, SignedRecord):
    """It with the keeper's signature."""


def try_share(state: VaultState, identity: Identity, memory: Path, now: datetime) -> tuple[KeyShare, str]:
    """Open a keeper's own share and sign that it is right; return it, and why the vault's folder did not take that, if so.

    ``memory``: the folder of this computer for what it saw of vaults. VaultError where the share is not right.
    """
    share = own_share(state, identity)
    by = identity.public.signing_key
    statement = ShareTried(vault=state.head.vault, check=share.check, when=moment(now), by=by)
    data, name = signed_record(statement, identity), _name(state, by)
    write_file(private_folder(memory) / name, data, overwrite=True)
    try:
        write_file(state.folder / name, data, overwrite=True, mode=PUBLISHED)
    except (HarnessError, OSError) as error:
        return share, str(error)
    return share, ""


def read_tried(data: bytes) -> SignedShareTried:
    """Read what a keeper says of their share and check its signature; raises FileError in words."""
    return read_signed_record(data, SignedShareTried, _WHAT, most=MOST_BYTES)


def shares_tried(state: VaultState, memory: Path) -> Mapping[str, str]:
    """Return when keepers last tried the share that they have now, by signing key; what is no right file counts nothing.

    A newer file in the vault's folder is kept in ``memory``.
    """
    tried: dict[str, str] = {}
    for key, sealed in state.split.shares.items() if state.split else ():
        name = _name(state, key)
        for folder in (memory, state.folder):
            with suppress(HarnessError, OSError):
                data = read_bytes(folder / name, _WHAT, MOST_BYTES)
                statement = read_tried(data)
                stated = (statement.vault, statement.by, statement.check)
                right = stated == (state.head.vault, key, sealed.check)
                if right and statement.when > tried.get(key, ""):
                    tried[key] = statement.when
                    if folder != memory:
                        write_file(private_folder(memory) / name, data, overwrite=True)
    return tried


def _name(state: VaultState, key: str) -> str:
    return f"tried-{state.head.vault[:16]}-{key[:16]}.json"
