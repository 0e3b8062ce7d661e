"""Files of reviews are known by their first bytes, in folders and singly, and hostile zips cost little."""

import base64
import io
import zipfile
from email.message import EmailMessage
from pathlib import Path

import pytest

from harness.sealed.archive import pack
from harness.sealed.carried_files import ReviewFile, SkipReason, find_files, read_carried, read_one
from harness.sealed.sealing import AgeIdentity, seal
from harness.sealed.strict_records import FileError, FileProblem

SEALED = seal(bytes(range(256)) * 40, [AgeIdentity.make().recipient])
OPEN = pack({"README.txt": b"x", "manifest.json": b'{"format":"rosetta-batch/3"}', "manifest.sig": bytes(64)})


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as outer:
        for name, data in members.items():
            outer.writestr(name, data)
    return content.getvalue()


def mailed(name: str, data: bytes, encoding: str = "base64") -> bytes:
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "a@example.org", "my answers"
    mail.set_content("Here they are.")
    mail.add_attachment(data, "application", "octet-stream", filename=name, cte=encoding)
    return mail.as_bytes()


def quoted(data: bytes) -> bytes:
    signs = [chr(byte) if 33 <= byte <= 126 and byte != 61 else f"={byte:02X}" for byte in data]
    return "=\r\n".join("".join(signs[at : at + 24]) for at in range(0, len(signs), 24)).encode()


def renamed(data: bytes, suffix: str) -> dict[str, bytes]:
    """Return file name → content of one file as mail, telephones and file systems leave it."""
    name = f"Spring{suffix}"
    return {
        f"{name}.txt": data,
        name.upper(): data,
        "TRANSL~1.ROS": data,
        "download": data,
        f"{name}-DESKTOP-AB12": data,
        f"{name}.zip": zipped({name: data}),
        "answers.zip": zipped({f"../../{name}": data}, zipfile.ZIP_STORED),
        "mail.eml": mailed(name, data),
        "quoted.eml": mailed(name, data, "quoted-printable"),
        "packed.eml": mailed("a.zip", zipped({name: data})),
        f"{name}.b64": base64.encodebytes(data),
        "notepad.txt": b"\xef\xbb\xbf" + base64.encodebytes(data),
        "body.txt": base64.b64encode(data),
        "quoted.txt": quoted(data),
    }


@pytest.mark.parametrize(("data", "wanted"), [(SEALED, ReviewFile.RATINGS), (OPEN, ReviewFile.BATCH)])
def test_a_renamed_or_wrapped_file_is_found_and_read(data: bytes, wanted: ReviewFile, tmp_path: Path) -> None:
    files = renamed(data, wanted.value)
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    search = find_files([tmp_path], wanted)
    assert sorted(file.path.name for file in search.files) == sorted(files)
    assert not search.skipped
    for file in search.files:
        assert read_one(file.path, wanted, file.inside) == data, file.path.name
        assert read_one(file.path, wanted) == data


def test_hidden_deleted_and_other_files_are_counted_with_the_reason(tmp_path: Path) -> None:
    bin_folder = tmp_path / "$RECYCLE.BIN"
    bin_folder.mkdir()
    for name in ("._x.rosetta-ratings", ".trashed-17-x.rosetta-ratings", "$RECYCLE.BIN/$R1.rosetta-ratings"):
        (tmp_path / name).write_bytes(SEALED)
    (tmp_path / "x.rosetta-ratings.crdownload").write_bytes(SEALED[:50])
    (tmp_path / "note.txt").write_bytes(b"Dear Ann")
    (tmp_path / "letter.docx").write_bytes(zipped({"word/document.xml": b"<w/>"}))
    (tmp_path / "Review-Windows.zip").write_bytes(zipped({"rosetta-review.exe": b"MZ"}))  # ours
    (tmp_path / "spring.rosetta-batch").write_bytes(OPEN)
    search = find_files([tmp_path], ReviewFile.RATINGS, seconds=None)
    assert not search.files
    assert {each.reason: len(each.names) for each in search.skipped} == {
        SkipReason.HIDDEN: 3, SkipReason.UNFINISHED: 1, SkipReason.OTHER: 2, SkipReason.BATCH: 1,
    }  # fmt: skip
    assert "2 files of another kind: letter.docx, note.txt" in map(str, search.skipped)


def test_a_zip_of_several_gives_each_and_no_hidden_one(tmp_path: Path) -> None:
    members = {"a/x.rosetta-ratings": SEALED, "b/y.rosetta-ratings": SEALED, "__MACOSX/a/._x.rosetta-ratings": SEALED}
    (tmp_path / "all.zip").write_bytes(zipped(members))
    found = read_carried(tmp_path / "all.zip")
    assert [each.inside for each in found] == ["a/x.rosetta-ratings", "b/y.rosetta-ratings"]


def test_a_zip_with_an_endless_list_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(zipped({f"{number}.rosetta-ratings": b"" for number in range(9_000)}))
    assert not find_files([tmp_path], ReviewFile.RATINGS).files
    assert [each.inside for each in read_carried(tmp_path / "x.zip")] == [""]


def bomb(members: int) -> bytes:
    return zipped({f"{number}.rosetta-ratings": SEALED[:300] + bytes(60 * 2**20) for number in range(members)})


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (zipped({"x.rosetta-ratings.zip": zipped({"x.rosetta-ratings": SEALED})}), FileProblem.NOT_OURS),
        (zipped({"note.txt": b"x"}), FileProblem.NOT_OURS),
        (bomb(3), FileProblem.TOO_LARGE),
        (b"\x00\x05\x16\x07" + bytes(80), FileProblem.NOT_OURS),
    ],
    ids=["zip in a zip", "nothing of ours", "bomb", "note of a Mac"],
)
def test_a_hostile_wrapper_is_refused_in_words(data: bytes, problem: FileProblem, tmp_path: Path) -> None:
    file = tmp_path / "x.zip"
    file.write_bytes(data)
    with pytest.raises(FileError) as refused:
        read_carried(file)
    assert refused.value.problem is problem
