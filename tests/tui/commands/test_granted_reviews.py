"""Reviews of a run from a vault that two of three keepers open together: by a grant for named laptops, or with both here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.core.failures import StoreError, UsageError
from harness.sealed.keys import Identity, Role
from harness.store.file.sealing import StoreSealed, forget_keys
from review.files.statements import write_laptop_card
from review.office.making import publishing
from review.office.store.store import Office
from tests.harness.vault.made import readable
from tests.tui.commands.vault_office import DESPITE, RUN, Homes, asked, grants, numbered

SMALL = "--organisation Council --reviewers 2 --items 5 --bad 1 --repeats 0 --anchors 0 --anyway -o {stick}/out"
FOR = ("--for", "{stick}/blue.rosetta-laptop")
FOR_BOTH = (*FOR, "--for", "{stick}/red.rosetta-laptop")
WITH = "--vault elders --purpose spring --with ../school/keeper.key"


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Homes]:
    """Keepers with a finished run out of their vault, and the cards of two laptops on the stick."""
    made = Homes(tmp_path, monkeypatch, numbered())
    for name in ("blue", "red"):
        card = write_laptop_card(Identity.make(Role.LAPTOP), name)
        (made.stick / f"{name}.rosetta-laptop").write_bytes(card)
    said = made.types("office", f"run greetings {WITH} -m copy-source", *RUN, *DESPITE)
    assert "chrF++" in said, said
    forget_keys()
    yield made
    forget_keys()


def given(homes: Homes, *words: str) -> list[str]:
    return [each.format(stick=homes.stick) for each in words]


def create(homes: Homes, opening: str, *laptops: str) -> str:
    return homes.types("office", f"review create last {opening} {SMALL}", *given(homes, *laptops))


def texts(homes: Homes) -> int:
    """Read the sentences of the newest review as the office can; return how many there are."""
    with Office.open(homes.folder / "office") as office:
        return len(office.review("last").texts)


def test_a_grant_hands_sentences_to_the_laptops_that_it_names_once(homes: Homes) -> None:
    shown = homes("office", "grant request elders greetings {stick}/n --purpose x --review last")
    assert "--review RUN and --for LAPTOP-FILE go together" in shown
    granted = asked(homes, "a", "--review", "last", *given(homes, *FOR))
    shown = homes("school", "grant show {stick}/elders {stick}/a.rosetta-request")
    assert shown.count("the laptop whose six words are") == 1
    for laptops in (FOR_BOTH, FOR_BOTH[2:]):
        assert "granted for other laptops" in create(homes, granted, *laptops)
    looked = homes.types("office", f"review adjudicate last {granted}")
    assert "no review" in looked
    other = asked(homes, "b", "--adjudicate", "last")
    assert "granted for adjudicate of run" in create(homes, other, *FOR)
    assert not [each for each in grants(homes) if each.used and each.answers]
    said = create(homes, granted, *FOR)
    assert "opens only on the laptops that are named above" in said, said
    assert "was used up at" in create(homes, granted, *FOR)
    forget_keys()
    with pytest.raises(StoreSealed):
        texts(homes)
    assert readable(homes.folder) == []


def test_a_use_that_fails_leaves_no_review_and_no_grant(
    homes: Homes, monkeypatch: pytest.MonkeyPatch
) -> None:
    granted = asked(homes, "a", "--review", "last", *given(homes, *FOR))

    def full(*_: object) -> None:
        raise UsageError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(publishing, "write_file", full)
        assert "full" in create(homes, granted, *FOR)
    assert "There is no review" in homes.types("office", "review status last")
    assert not list(homes.stick.glob("out/*"))
    assert "was used up at" in create(homes, granted, *FOR)
    assert readable(homes.folder) == []


def test_sentences_of_a_review_go_along_when_keepers_seal_all_anew(homes: Homes) -> None:
    assert "Written" in create(homes, WITH, *FOR)
    forget_keys()
    said = homes("office", "refresh elders --with ../school/keeper.key --anew --purpose", "a page was lost")  # fmt: skip
    assert "error" not in said, said
    forget_keys()
    with pytest.raises(StoreSealed):
        texts(homes)
    said = homes.types("office", f"runs sign last {WITH}")
    assert "error" not in said, said
    assert texts(homes) > 0
    forget_keys()
    homes("office", "rotate elders greetings --from gold_standard --to held_out --count 1 --purpose kept")  # fmt: skip
    assert "went to held_out since" in create(homes, f"{WITH} --name later", *FOR)
    with pytest.raises(StoreSealed):
        texts(homes)
    homes.types("office", "runs delete last --now --yes")
    with Office.open(homes.folder / "office") as office, pytest.raises(StoreError, match="nobody opens them again"):  # fmt: skip
        _ = office.review("last").texts
