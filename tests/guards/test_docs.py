"""What README and docs say of the program is what the program does; generated pages are fresh, every page is listed."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from textual.screen import Screen

import rosetta as door
from harness.compare import LEAST_RUNS, MOST_RUNS
from harness.core.calls import Usage
from harness.core.canonical import canonical_bytes
from harness.core.version import VERSION
from harness.endpoint.budget import Prices
from harness.sealed.keys import Role
from rosetta_tui.commands import rosetta
from rosetta_tui.commands.compare import compare
from rosetta_tui.front import commands
from scoring.core.inventory import shipped_inventory
from scoring.core.packs import shipped_packs
from scoring.core.specification import TASKS, specification
from scoring.statistics.intervals import DRAWS, LEVEL, SEED
from scoring.statistics.racing import WAGERS, enough
from scoring.statistics.repetitions import DECIDING, TOLERANCE
from scoring.statistics.significance import TRIALS
from tests.tui.commands.certified_gold import TwoSides, two_sides
from tests.tui.commands.command_line import ok

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]


def read(*names: str) -> str:
    return ROOT.joinpath(*names).read_text("utf-8")


@pytest.mark.parametrize("name", ["api", "metrics", "options"])
def test_page_is_what_its_generator_writes(name: str) -> None:
    written = runpy.run_path(str(DOCS / f"make_{name}.py"))["page"]()
    assert written == read("docs", f"{name}.md"), f"run: python -P docs/make_{name}.py"


def test_options_of_the_package_are_those_of_the_table() -> None:
    written = runpy.run_path(str(DOCS / "make_options.py"))["module"]()
    assert written == read("rosetta", "options.py"), "run: python -P docs/make_options.py"


def test_completion_table_is_written_from_the_commands() -> None:
    written = runpy.run_path(str(DOCS / "make_options.py"))["completion"]()
    assert written == read("rosetta_tui", "completion.txt"), "run: python -P docs/make_options.py"


def test_every_public_name_is_on_its_page() -> None:
    assert [name for name in door.__all__ if name not in read("docs", "api.md")] == []


def _calls(page: Path) -> list[str]:
    text = page.read_text("utf-8")
    blocks = "\n".join(re.findall(r"```(?:sh|console)?\n(.*?)```", text, re.DOTALL))
    lines = [line.strip().removeprefix("$ ") for line in blocks.replace("\\\n", " ").splitlines()]
    inline = re.findall(r"`(rosetta [^`]+)`", text)
    return [line for line in [*lines, *inline] if line.startswith("rosetta ")]


CALLS = [(page.name, call) for page in PAGES for call in _calls(page)]


def problem_of(call: str) -> str | None:
    """Return which word of a call is no command or option, or None."""
    words = shlex.split(call, comments=True)[1:]
    command: click.Command = rosetta
    context = click.Context(rosetta)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        if found is None:
            return f"there is no command {words[0]!r}"
        command, words = found, words[1:]
    known = {name for parameter in command.params for name in parameter.opts}
    known |= {"--help", "--version"}
    options = [word for word in words if re.fullmatch(r"--?[a-z][a-z-]*", word)]
    unknown = [word for word in options if word not in known]
    return f"there is no option {unknown}" if unknown else None


def test_every_call_in_the_docs_can_be_made_and_every_command() -> None:
    assert problem_of("rosetta runz list")
    assert problem_of("rosetta runs list --nothing")
    assert {f"{page}: {call}": why for page, call in CALLS if (why := problem_of(call))} == {}
    told = " ".join(call for _, call in CALLS)
    missing = [name for name in commands() if f"rosetta {name}" not in told]
    assert not missing


def test_the_price_table_of_the_docs_can_be_used(tmp_path: Path) -> None:
    [table] = re.findall(r"```toml\n(.*?)```", read("docs", "prices.md"), re.DOTALL)
    own = tmp_path / "prices.toml"
    own.write_text(table, "utf-8")
    price = Prices(own).price("llm.example.org", "example/translator-7b")
    assert price is not None
    assert price.cost(Usage(1_000_000, 1_000_000, 0, 0)) == pytest.approx(2.0)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_between_pages_leads_somewhere() -> None:
    for page in PAGES:
        text = page.read_text("utf-8")
        for target, anchor in re.findall(r"\]\((?!https://)([^)#]*)#?([^)]*)\)", text):
            file = page.parent / target if target else page
            assert file.exists(), f"{page.name} links to {target}"
            assert not anchor or anchor in anchors(file), f"{page.name} links to {target}#{anchor}"


MUST_READ = ("custodians", "vault", "released", "review-for-organisers", "gate", "consent", "glossary")


def test_pages_for_users_stay_short() -> None:
    words = {page.stem: len(page.read_text("utf-8").split()) for page in DOCS.glob("*.md")}
    assert sum(words.values()) <= 50_000, "move what only a maintainer needs to docs/internals"
    assert sum(words[name] for name in MUST_READ) <= 7_000, "a custodian has to read these"
    assert len(re.findall(r"^\| \*\*", read("docs", "glossary.md"), re.MULTILINE)) <= 30, (
        "a custodian has to learn these"
    )


# screens and keys

MADE = runpy.run_path(str(DOCS / "make_keys.py"))


def test_the_docs_list_every_screen_and_key() -> None:
    written = read("docs", "app.md").partition(MADE["BEGIN"])[2]
    assert written == f"\n{MADE['page']()}", "run: python -P docs/make_keys.py"


def test_every_key_has_one_meaning_and_a_name() -> None:
    """Two actions may share a key only where they share its name: one of them works at a time."""
    nameless = [
        f"{kind.__name__}: {binding.key}"
        for kind in MADE["screens"]()
        for binding in MADE["bindings"](kind)
        if binding.id is None
    ]
    assert not nameless
    for kind in MADE["screens"]():
        names = defaultdict(set)
        for binding in MADE["bindings"](kind):
            for key in binding.key.split(","):
                names[key.strip()].add(binding.id)
        assert all(len(found) == 1 for found in names.values()), (kind, dict(names))


def test_every_screen_has_a_title_and_says_what_its_signs_mean() -> None:
    kinds: list[type[Screen[object]]] = MADE["screens"]()
    assert not [kind.__name__ for kind in kinds if not kind.TITLE]
    assert not [kind.__name__ for kind in kinds if not getattr(kind, "HELP", "")]


# what is told of comparing

COMPARING = read("docs", "comparing.md")


def test_options_and_numbers_of_comparing_are_those_of_the_code() -> None:
    told = set(re.findall(r"`(--[a-z-]+)[ `]", COMPARING.split("## Reading")[0]))
    options = {option for parameter in compare.params for option in parameter.opts}
    assert told == {option for option in options if option.startswith("--")}
    assert (LEAST_RUNS, MOST_RUNS) == (2, 6)
    assert "Two to six runs" in COMPARING
    assert f"{DRAWS:,} paired resamples" in COMPARING
    assert f"{TRIALS:,} shuffles" in COMPARING
    assert f"{LEVEL:.0%}".replace("%", " %") in COMPARING
    assert f"the same seed ({SEED})" in COMPARING
    assert f"±{TOLERANCE:.0%}".replace("%", " %") in COMPARING
    assert DECIDING == ("composite", "chrf_plus_plus")
    assert len(WAGERS) == 12
    assert round(2.718281828 ** enough(LEVEL)) == 40
    assert "Twelve bets" in COMPARING
    rows = specification().metrics
    assert rows["length_ratio"].info.better == "neither"
    assert rows["bleu"].level == "corpus"
    assert not rows["consistency_score"].interval
    assert rows["ter"].info.high == float("inf")


@pytest.mark.costly("a shell starts the program eight times")
def test_the_script_for_ci_passes_then_fails(tmp_path: Path) -> None:
    [script] = re.findall(r"```sh\n(set -e .*?)```", COMPARING, re.DOTALL)
    (tmp_path / "corpus.tsv").write_text("".join(f"source {n}\treference {n}\n" for n in range(20)), "utf-8")
    words = script.replace("CORPUS OUTPUTS", "corpus.tsv outputs.txt --source-language en --target-language eo")
    codes = []
    for right in (20, 10, None):
        lines = (f"reference {n}\n" if n < (right or 0) else "nothing\n" for n in range(20))
        (tmp_path / "outputs.txt").write_text("".join(lines) if right else "", "utf-8")
        path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
        done = subprocess.run(
            ["sh", "-c", words],
            cwd=tmp_path,
            env={"PATH": path, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=False,
        )
        codes.append(done.returncode)
        if right == 10:
            assert b"worse beyond chance" in done.stdout
    assert codes == [0, 1, 2], done


# metrics

METRICS = read("docs", "metrics.md")


def test_every_metric_has_one_full_row() -> None:
    rows = _rows(METRICS.partition("## Packs")[0])
    assert list(rows) == list(specification().metrics)
    for id_, cells in rows.items():
        assert all(cells), id_
        weights = dict(re.findall(r"([AB]) (\d\.\d\d)", cells[-1]))
        profiles = specification().profiles.items()
        stated = {name: profile[id_] for name, profile in profiles if id_ in profile}
        assert {name: float(weight) for name, weight in weights.items()} == stated
        assert weights or cells[-1].startswith("no: ")
    rows = _rows(METRICS.partition("## Packs")[2])
    assert list(rows) == [id_ for id_ in shipped_inventory() if "." in id_]
    assert all(all(cells) for cells in rows.values())


def _rows(part: str) -> dict[str, list[str]]:
    return {
        cells[1].strip().strip("`"): [cell.strip() for cell in cells[2:-1]]
        for line in part.splitlines()
        if line.startswith("| `") and len(cells := line.split("|")) >= 10
    }


def test_metrics_of_page_and_packs_are_those_there_are() -> None:
    for pack in shipped_packs():
        assert all(pack.for_task(task) for task in pack.tasks), pack.name
        tasks = {task for row in pack.rows.values() for task in row.tasks}
        assert tasks <= TASKS.keys()
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", METRICS.partition("## Packs")[0]))
    assert named - set(specification().metrics) <= {"morphological_analysis"}


# contributing, changelog, index, benchmarks: every page and script is listed, and no other

CONTRIBUTING = read("CONTRIBUTING.md")


def test_index_readme_and_changelog_are_kept() -> None:
    listed = re.findall(r"^\| \[([\w/.-]+\.md)\]", read("docs", "README.md"), re.MULTILINE)
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} - {"README.md"}
    assert sorted(name for name in listed if not name.startswith("../")) == sorted(pages)
    readme = read("README.md")
    for page in ("docs/README.md", "docs/internals/architecture.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        assert f"({page})" in readme
    told = read("CHANGELOG.md")
    assert re.findall(r"^## (.*)$", told, re.MULTILINE)[0] == "Unreleased"
    assert VERSION in told


def test_files_and_targets_that_contributing_names_are_there() -> None:
    named = set(re.findall(r"`([\w.-]+(?:/[\w.-]*)+|[\w.-]+\.(?:toml|yaml|md))`", CONTRIBUTING))
    named |= set(re.findall(r"\]\(([\w/.-]+)\)", CONTRIBUTING))
    assert len(named) > 25
    fixed = (name for name in sorted(named) if "TAG" not in name and "NAME" not in name)
    gone = [name for name in fixed if not (ROOT / name).exists()]
    assert gone == []
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)", CONTRIBUTING)) <= targets


def test_pre_commit_runs_what_make_lint_runs() -> None:
    hooks = re.findall(r"^ +entry: \.venv/bin/(.*)$", read(".pre-commit-config.yaml"), re.MULTILINE)
    [recipe] = re.findall(r"^lint:.*\n((?:\t.*\n)+)", read("Makefile"), re.MULTILINE)
    assert hooks == re.findall(r"\$\(BIN\)/(.*)", recipe)


PARTS = {"bare_app", "mock_endpoint", "straightforward", "window_probe"}
"""Started by a script: the other side of a comparison, or what is watched."""


def scripts() -> set[str]:
    """Return the names of what can be started and measures something."""
    found = (path for path in (ROOT / "benchmarks").glob("*.py"))
    return {path.stem for path in found if "__main__" in path.read_text("utf-8")} - PARTS


def test_scripts_are_run_by_make_and_have_their_rows() -> None:
    makefile = read("Makefile").replace("\\\n", " ")
    listed = re.findall(r"^BENCHMARKS = (.*)$", makefile, re.MULTILINE)[0].split()
    assert sorted(listed) == sorted(scripts())
    assert "-m benchmarks dist/benchmarks.md $(TIMES) $(BENCHMARKS)" in makefile
    rows = [line for line in read("docs", "internals", "benchmarks.md").splitlines() if line.startswith("|")]
    last = (re.findall(r"`(\w+)`", row.rstrip("| ").split("|")[-1]) for row in rows)
    assert {name for names in last for name in names} == scripts()
    assert all((ROOT / "benchmarks" / f"{name}.py").exists() for name in PARTS)


# the lines of docs/verifying.md, run by a real shell with a real openssl over files of the program, whole and changed

LINES = dict(re.findall(r"<!-- openssl: (\w+) -->\n```sh\n(.*?)```", read("docs", "verifying.md"), re.DOTALL))


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoSides]:
    if not all(map(shutil.which, ("openssl", "bash", "python3"))):
        pytest.skip("openssl, bash or python3 is not installed")
    with pytest.MonkeyPatch.context() as patch:
        yield two_sides(tmp_path_factory.mktemp("openssl"), patch)


def run(name: str, folder: Path, **keys: str) -> subprocess.CompletedProcess[str]:
    """Run the lines of a file's kind in its folder, with the function for keys before them."""
    script = f"set -e\n{LINES['key']}\n{LINES[name]}"
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env={"PATH": "/usr/bin:/bin:/usr/local/bin", **keys},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def holds(done: subprocess.CompletedProcess[str], times: int = 1) -> bool:
    return done.returncode == 0 and done.stdout.count("Verified Successfully") == times


@pytest.mark.thorough
def test_openssl_checks_a_certificate(sides: TwoSides, tmp_path: Path) -> None:
    shutil.copy(sides.certificate, tmp_path / "NAME.certificate.json")
    signature = sides.certificate.name.replace(".json", ".sig")
    shutil.copy(sides.certificate.with_name(signature), tmp_path / "NAME.certificate.sig")
    assert holds(run("certificate", tmp_path, KEY=sides.organisation_key))
    assert not holds(run("certificate", tmp_path, KEY=sides.key()))
    path = tmp_path / "NAME.certificate.json"
    path.write_bytes(path.read_bytes().replace(b'"go"', b'"no"'))
    assert not holds(run("certificate", tmp_path, KEY=sides.organisation_key))


@pytest.mark.thorough
def test_openssl_checks_a_signed_card(sides: TwoSides, tmp_path: Path) -> None:
    (tmp_path / "c.tsv").write_text("id\tsource\treference\n1\tHello\tSaluton\n", "utf-8")
    languages = "--source-language en --target-language eo"
    ok(f"run {tmp_path}/c.tsv {languages} --method copy-source --plain", sides.developer)
    ok(f"runs export last -o {tmp_path}/NAME.json", sides.developer)
    key = sides.key(Role.COMPUTER)
    assert holds(run("card", tmp_path, KEY=key))
    assert not holds(run("card", tmp_path, KEY=sides.organisation_key))
    path = tmp_path / "NAME.seal.json"
    whole = path.read_text()
    path.write_text(whole.replace('"rows":1', '"rows":2'))
    assert not holds(run("card", tmp_path, KEY=key))
    path.write_text(whole)
    card = tmp_path / "NAME.json"
    raw = json.loads(card.read_bytes())
    card.write_text(json.dumps(raw | {"run_card_hash": "0" * 64}))
    assert "another card" in run("card", tmp_path, KEY=key).stderr


@pytest.mark.thorough
def test_openssl_checks_a_record_of_ownership(sides: TwoSides, tmp_path: Path) -> None:
    path = tmp_path / "NAME.rosetta-ownership"
    shutil.copy(sides.signed(), path)
    keys = {"ORGANISATION": sides.organisation_key, "DEVELOPER": sides.key()}
    assert holds(run("ownership", tmp_path, **keys), times=2)
    assert not holds(run("ownership", tmp_path, **keys | {"DEVELOPER": "0" * 64}), times=2)
    raw = json.loads(path.read_bytes())
    raw["terms"]["organisation_share"] = 100
    path.write_bytes(canonical_bytes(raw) + b"\n")
    assert "other terms" in run("ownership", tmp_path, **keys).stderr
