"""docs/plains-cree.md against the code, so that the page stays true."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from corpora.languages.language import VariantRules
from scoring.grammar.normal_form import VariantClass
from scoring.grammar.verdicts import TENTHS
from scoring.metrics.comet import LEAST, MOST
from tests.scoring.cree import card

PAGE = Path(__file__).parents[2].joinpath("docs", "plains-cree.md").read_text("utf-8")


def test_every_class_has_its_row() -> None:
    rows = [line.split("|")[1].strip() for line in PAGE.splitlines() if line.count("|") == 4]
    assert {each.value for each in VariantClass} <= set(rows)


def test_the_weights_are_those_of_the_code() -> None:
    found = re.findall(r"^\| ([A-Z_]+) \| ([\d.]+) \|", PAGE, re.MULTILINE)
    assert {name: round(10 * float(weight)) for name, weight in found} == {
        verdict.value: tenths for verdict, tenths in TENTHS.items()
    }


def test_the_example_section_is_one() -> None:
    [section] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert VariantRules.model_validate(tomllib.loads(section)["variants"]).free_word_order


def test_words_that_the_page_names_are_in_the_card() -> None:
    rules = card().variants
    assert {"niya", "kiya", "wiya", "kîstanaw", "nîstanân"} <= set(rules.optional_particles)
    assert {"wî", "ta"} <= set(rules.preverbs)
    assert "kîspin" not in rules.optional_particles
    assert f"{LEAST:g}–0".replace("-", "−") in PAGE
    assert f"1–{MOST:g}" in PAGE
