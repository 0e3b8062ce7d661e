"""What an organisation's profile tells of the vaults of its computer."""

from contextlib import closing
from pathlib import Path

from harness.store.file.database import open_store
from harness.vault.opening import MEMORY
from harness.vault.vault import Vault
from review.records.profile import seen
from tests.harness.vault.grants.made import KEEPERS, OFFICE
from tests.harness.vault.made import ticking


def test_the_rows_of_several_vaults_are_told_apart_and_name_none(tmp_path: Path) -> None:
    told = []
    for name in ("a", "b"):
        vault = Vault(tmp_path / name, tmp_path / MEMORY, ticking())
        vault.found(f"Words of {name}", KEEPERS, OFFICE, threshold=2)
        vault.read()
        with closing(open_store(tmp_path / "rosetta.sqlite")) as store:
            told.append(seen(store, tmp_path))
    one, two = told
    assert not any("vault 1 of" in words for rows in one.values() for words in rows)
    for item, rows in two.items():
        assert len(set(rows)) == len(rows), item
    assert [words.partition(":")[0] for words in two["authority"]] == [
        "vault 1 of 2",
        "vault 2 of 2",
    ]
    assert not any("Words of" in words for rows in two.values() for words in rows)
