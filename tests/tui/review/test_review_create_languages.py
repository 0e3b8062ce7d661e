"""``rosetta review create``: the languages of a batch, and what stands around its sentences."""

from __future__ import annotations

from pathlib import Path

from review.files.batch import Batch, open_batch
from tests.tui.review.creating import CREATE, create, home, refused

__all__ = ["home"]


def test_a_batch_speaks_the_languages_of_ours_or_those_that_are_given(
    home: Path, tmp_path: Path
) -> None:
    ours = opened(create(tmp_path / "ours", "--name", "ours"))
    assert list(ours.manifest.translations) == ["fr"]
    assert ours.manifest.translations["fr"].consent.startswith("The council vous demande")
    assert all(set(item.explanations) == {"fr"} for item in ours.training)
    columns = "source\tcandidate\trating\texplanation\n"
    for name, content in {
        "en.txt": "{organisation} asks.", "es.txt": "{organisation} le pide.",
        "en.tsv": f"{columns}Hello\tSaluton\texcellent\tGood.\n",
        "es.tsv": f"{columns}Hello\tSaluton\texcellent\tBueno.\n",
    }.items():  # fmt: skip
        (tmp_path / name).write_text(content, "utf-8")
    en, es, en_tsv, es_tsv = (str(tmp_path / n) for n in ("en.txt", "es.txt", "en.tsv", "es.tsv"))
    own = opened(create(tmp_path / "own", "--consent", en, "--consent", f"es={es}", "--training", en_tsv, "--training", f"es={es_tsv}"))  # fmt: skip
    assert own.manifest.consent == "The council asks."
    assert own.manifest.translations["es"].consent == "The council le pide."
    assert own.manifest.translations["fr"].consent == "", "ours would say something else"
    assert own.manifest.translations["fr"].guide, "the guide is ours in each language"
    assert [item.explanations for item in own.training] == [{"es": "Bueno."}]
    twice = refused(*CREATE, "--consent", en, "--consent", f"en={es}")
    assert "two files for the language en" in twice
    assert "no items in the review's own language" in refused(*CREATE, "--training", f"es={es_tsv}")
    (tmp_path / "es.tsv").write_text(f"{columns}Bye\tSaluton\texcellent\tBueno.\n", "utf-8")
    other = refused(*CREATE, "--training", en_tsv, "--training", f"es={es_tsv}")
    assert "es.tsv: item 1 is another than in the first file" in other


def opened(told: dict[str, object]) -> Batch:
    [file] = list(told["files"])  # type: ignore[call-overload]
    return open_batch(Path(file).read_bytes())
