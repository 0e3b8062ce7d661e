"""Contributing, changelog, index, benchmarks: every page and script is listed, and no other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from harness.core.version import VERSION

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def test_the_index_lists_every_page_once() -> None:
    listed = re.findall(
        r"^\| \[([\w/.-]+\.md)\]", (DOCS / "README.md").read_text("utf-8"), re.MULTILINE
    )
    pages = {page.name for page in DOCS.glob("*.md")} - {"README.md"}
    assert sorted(name for name in listed if "/" not in name) == sorted(pages)


def test_the_readme_leads_to_the_index_and_the_architecture() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for page in ("docs/README.md", "docs/architecture.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        assert f"({page})" in readme


def test_files_that_contributing_names_are_there() -> None:
    named = set(re.findall(r"`([\w.-]+(?:/[\w.-]*)+|[\w.-]+\.(?:toml|yaml|md))`", CONTRIBUTING))
    named |= set(re.findall(r"\]\(([\w/.-]+)\)", CONTRIBUTING))
    assert len(named) > 25
    fixed = (name for name in sorted(named) if "TAG" not in name and "NAME" not in name)
    gone = [name for name in fixed if not (ROOT / name).exists()]
    assert gone == []


def test_make_knows_the_targets_that_contributing_names() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)", CONTRIBUTING)) <= targets


def test_the_changelog_is_kept() -> None:
    told = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.findall(r"^## (.*)$", told, re.MULTILINE)[0] == "Unreleased"
    assert VERSION in told


def test_pre_commit_runs_what_make_lint_runs() -> None:
    hooks = re.findall(
        r"^ +entry: \.venv/bin/(.*)$",
        (ROOT / ".pre-commit-config.yaml").read_text("utf-8"),
        re.MULTILINE,
    )
    [recipe] = re.findall(
        r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
    )
    assert hooks == re.findall(r"\$\(BIN\)/(.*)", recipe)


def test_every_package_says_that_it_is_typed() -> None:
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"][
        "build"
    ]["targets"]["wheel"]["packages"]
    assert [name for name in packages if not (ROOT / name / "py.typed").is_file()] == []


PARTS = {"bare_app", "mock_endpoint", "straightforward", "window_probe"}
"""Started by a script: the other side of a comparison, or what is watched."""


def scripts() -> set[str]:
    """Return the names of what can be started and measures something."""
    found = (path for path in (ROOT / "benchmarks").glob("*.py"))
    return {path.stem for path in found if "__main__" in path.read_text("utf-8")} - PARTS


def test_make_runs_every_script() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("\\\n", " ")
    listed = re.findall(r"^BENCHMARKS = (.*)$", makefile, re.MULTILINE)[0].split()
    assert sorted(listed) == sorted(scripts())
    assert "for name in $(BENCHMARKS)" in makefile


def test_the_page_has_a_row_for_every_script() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    last = {
        name for row in rows for name in re.findall(r"`(\w+)`", row.rstrip("| ").split("|")[-1])
    }
    assert last == scripts()


def test_what_a_script_starts_is_there() -> None:
    assert all((ROOT / "benchmarks" / f"{name}.py").exists() for name in PARTS)
