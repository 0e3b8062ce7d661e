"""Merkle trees in the form of RFC 6962 and RFC 9162: one hash over many leaves, and a short proof for each of them.

A leaf is hashed behind a byte 0x00 and a node behind 0x01, so that no node can be shown as a leaf. A tree of n leaves
is separated at the largest power of two below n. All hashes are SHA-256, 32 bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

EMPTY: Final = sha256().digest()
"""Root of a tree without leaves."""

_LEAF = b"\x00"
_NODE = b"\x01"


def leaf_hash(data: bytes) -> bytes:
    """Hash the content of a leaf."""
    return sha256(_LEAF + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash two hashes into the one above them."""
    return sha256(_NODE + left + right).digest()


def tree_root(leaves: Sequence[bytes]) -> bytes:
    """Return the root over leaf hashes in their order (RFC 9162 §2.1.1)."""
    if not leaves:
        return EMPTY
    while len(leaves) > 1:
        leaves = _level_above(leaves)
    return leaves[0]


def inclusion_path(leaves: Sequence[bytes], place: int) -> list[bytes]:
    """Return the hashes, from the bottom up, by which one leaf leads to the root (RFC 9162 §2.1.3.1).

    ``place`` counts from 0. The path of the only leaf is empty.
    """
    path = []
    while len(leaves) > 1:
        beside = place ^ 1
        if beside < len(leaves):  # else the last one of an odd number goes up as it is
            path.append(leaves[beside])
        leaves, place = _level_above(leaves), place // 2
    return path


def root_by_path(leaf: bytes, place: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """Return the root to which a leaf hash and its path lead in a tree of ``size`` leaves (RFC 9162 §2.1.3.2).

    None where such a tree has no leaf at this place, or its paths there have another length.
    """
    if not 0 <= place < size:
        return None
    digest, last = leaf, size - 1
    for beside in path:
        if last == 0:
            return None
        if place % 2 or place == last:
            digest = node_hash(beside, digest)
            while place % 2 == 0 and place:
                place, last = place // 2, last // 2
        else:
            digest = node_hash(digest, beside)
        place, last = place // 2, last // 2
    return digest if last == 0 else None


def _level_above(hashes: Sequence[bytes]) -> list[bytes]:
    """Join neighbours; a last one without a neighbour goes up as it is, which parts the tree as the RFC does."""
    pairs = zip(hashes[::2], hashes[1::2], strict=False)
    return [node_hash(*pair) for pair in pairs] + list(hashes[len(hashes) & ~1 :])
