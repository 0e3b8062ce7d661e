"""An office with a run from a vault, and speakers with a laptop each who rate what was sealed for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.sealed.keys import Identity, Role
from review.files.batch import open_batch
from review.files.identities import write_laptop_card
from review.log.payloads import HarmFlag, Suggest
from review.office.store.store import Office, Review
from review.rating import Rating
from review.verdict.gate.key import ControlKind
from review.verdict.gate.policy import proposed
from tests.review.office.made import Person
from tests.tui.commands.submission_desk import CANARY, Desk

OPENING = ("--vault", "elders", "--purpose", "speakers judge")
LAPTOPS = 3
POLICY = (("items = 50", "items = 20"), ("per_stratum = 8", "per_stratum = 1"), ("community_reviewers = 5", "community_reviewers = 3"), ("share = 0.70", "share = 0.40"), ("most = 0.10", "most = 0.30"))  # fmt: skip
"""What a small panel of these tests asks for in place of the proposal."""


@dataclass
class Speakers:
    """Laptops by name, whose cards lie in the desk's folder."""

    desk: Desk
    laptops: dict[str, Identity]

    @property
    def named(self) -> list[str]:
        """The options that seal a review for all of them."""
        return [word for name in self.laptops for word in ("--for", f"{name}.rosetta-laptop")]

    def rate(self, stick: Path, review: Review, opinion: Callable[[int, str], Rating]) -> str:
        """Have each person rate at a laptop of their own, and put what they hand in on the stick.

        ``opinion``: from the number of the person and the id of an item. The first one says that an item is harmful, and
        writes a better wording of another one. Return the source of what was called harmful.
        """
        [batch] = [each.read_bytes() for each in stick.glob("*.rosetta-batch")]
        harmful = ""
        people = zip(review.key.orders, self.laptops.items(), strict=True)
        for number, (who, (name, identity)) in enumerate(people):
            home = self.desk.folder / name
            home.mkdir(exist_ok=True)
            opened = open_batch(batch, [identity.age])
            assert any(CANARY in each.source for each in opened.items), "shown to whom it is for"
            person = Person(home, opened, who)
            person.identity = identity
            person.rate([opinion(number, item) for item in person.order])
            if number == 0:
                harmful = _speaks(person, review)
            (stick / f"{name}.rosetta-ratings").write_bytes(person.handed_over())
            person.laptop.close()
        return harmful


def _speaks(person: Person, review: Review) -> str:
    real = [each for each in person.order if review.key.items[each].control is None]
    person.laptop.append(HarmFlag(**person.place, item=real[0], harmful=True))
    person.laptop.append(Suggest(**person.place, item=real[1], text=f"better: {CANARY}"))
    return next(each.source for each in person.batch.items if each.id == real[0])


def careful(review: Review) -> Callable[[int, str], Rating]:
    """Return the opinion of people to whom what was spoilt is bad, and all else excellent."""

    def opinion(_number: int, item: str) -> Rating:
        bad = review.key.items[item].control is ControlKind.BAD
        return Rating.REJECT if bad else Rating.EXCELLENT

    return opinion


def run_sealed(desk: Desk) -> str:
    """Run a method over the secret sentences of the desk's vault; return the run's id."""
    more = ("--purpose", "the spring run", "--despite-network", "a test", "--plain")
    desk("run eo-gold --vault elders --method copy-source --segment gold_standard", *more)
    return str(desk.json("runs list", "runs-list")[0]["run_id"])


def speakers(desk: Desk, count: int = LAPTOPS) -> Speakers:
    """Return speakers with laptops whose cards came to the office."""
    laptops = {f"laptop-{n}": Identity.make(Role.LAPTOP) for n in range(count)}
    for name, identity in laptops.items():
        (desk.folder / f"{name}.rosetta-laptop").write_bytes(write_laptop_card(identity, name))
    return Speakers(desk, laptops)


def create(desk: Desk, named: Sequence[str], *more: str, code: int = 0) -> str:
    """Type the command that hands the newest run to speakers."""
    policy = proposed()[1].decode()
    for old, new in POLICY:
        assert old in policy
        policy = policy.replace(old, new)
    (desk.folder / "policy.toml").write_text(policy, "utf-8")
    line = "review create last --organisation Council --reviewers 3 --items 20 --seed 7 --policy policy.toml -o stick"
    return desk(line, *named, *more, code=code)


def newest(desk: Desk) -> Review:
    """Return the newest review of the office."""
    with Office.open(desk.home) as office:
        return office.review("last")
