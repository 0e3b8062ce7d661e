"""From what was drawn to the signed batches and the answer key: the same way, whatever is asked."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from corpora.model.corpus import Dataset
from corpora.model.entry import Entry
from harness.core.failures import UsageError
from review.files.batch_form import Task, TrainingItem
from review.files.person_tag import new_salt, tag_of
from review.office.items.items import Item
from review.office.making.batches import Asked, Made, Said, parts_of, sign_batches
from review.sealed.keys import Identity
from review.verdict.panel.key import AnswerKey, KeyRun

MOST_REVIEWERS = 200
NO_POLICY = b""
"""Where nothing is judged, there is no rule for a verdict."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """What is asked of whom in a review that is worked out and not yet written anywhere."""

    dataset: Dataset
    entries: Sequence[Entry]
    """Those that were drawn."""
    items: Sequence[Item]
    """In the order of their random ids, which tells nothing."""
    core: tuple[str, ...]
    """Items of the drawn entries that everybody is asked."""
    orders: Mapping[str, tuple[str, ...]]
    """Code → ids in this person's order."""
    training: Sequence[TrainingItem] = ()
    task: Task = "rate"
    written: Sequence[str] = ()
    """Open texts in the target language that are shown to nobody; they tell its script and letters."""
    seed: int

    @property
    def key_runs(self) -> tuple[KeyRun, ...]:
        """What the answer key says of the runs that are reviewed."""
        return ()

    @property
    def longest(self) -> int:
        """Items of the person who has most."""
        return max(map(len, self.orders.values()))


def check_reviewers(wanted: int) -> None:
    """Refuse nobody, and more people than codes are made for."""
    if not 1 <= wanted <= MOST_REVIEWERS:
        raise UsageError(f"--reviewers {wanted}: between 1 and {MOST_REVIEWERS} are possible.")


def make(
    drawn: Drawn,
    said: Said,
    identity: Identity,
    policy: bytes = NO_POLICY,
    *,
    one_each: bool = False,
) -> Made:
    """Sign the batch, or one for each reviewer, and write the key; nothing is stored yet."""
    salt = new_salt()
    tags = {code: tag_of(code, salt) for code in drawn.orders}
    orders = {tags[code]: order for code, order in drawn.orders.items()}
    asked = Asked(
        source_language=drawn.dataset.source_language,
        target_language=drawn.dataset.target_language,
        items={item.id: item.shown for item in drawn.items},
        orders=orders,
        salt=salt,
        training=drawn.training,
        task=drawn.task,
        written=drawn.written,
    )
    runs = tuple(
        run.model_copy(update={"looks": said.looks.get(run.run_id, 0)}) for run in drawn.key_runs
    )
    parts = parts_of(asked.orders, one_each=one_each)
    key = _answer_key(drawn, orders, said, runs, tuple(parts))
    batches = sign_batches(asked, said, policy, identity, parts, key)
    sealed = {each.manifest.batch: each.sha256 for each in batches}
    return Made(
        key.model_copy(update={"batch_sha256": sealed}),
        batches,
        list(asked.items.values()),
        {tag: code for code, tag in tags.items()},
    )


def _answer_key(
    drawn: Drawn,
    orders: Mapping[str, tuple[str, ...]],
    said: Said,
    runs: tuple[KeyRun, ...],
    batches: tuple[str, ...],
) -> AnswerKey:
    """Write the key, to which the batches commit; their hashes are filled in once they are signed."""
    return AnswerKey(
        review=said.name,
        batches=batches,
        batch_sha256={},
        runs=runs,
        items={item.id: item.truth for item in drawn.items},
        core=tuple(sorted(drawn.core)),
        orders=dict(orders),
        seed=drawn.seed,
        panel=said.panel,
        salt=secrets.token_hex(32),
    )
