"""``edit`` changes what it was asked to change and not one byte more."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

UTF16 = "utf-16-le"


def _utf16(text: str) -> bytes:
    return b"\xff\xfe" + text.encode(UTF16)


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        pytest.param(b"a b c\n", "b", "x", b"a x c\n", id="plain"),
        pytest.param(b"a b c", "c", "x", b"a b x", id="no-final-newline"),
        pytest.param(b"a b", "a b", "", b"", id="everything"),
        pytest.param(b"a\r\nb\r\n", "a\nb", "x\ny", b"x\r\ny\r\n", id="crlf"),
        pytest.param(b"a\r\nb\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\n", id="crlf-insert"),
        pytest.param(b"a\r\nb", "b", "x\ny", b"a\r\nx\r\ny", id="crlf-before"),
        pytest.param(b"\r\na\r\n", "\na", "b", b"b\r\n", id="crlf-leading-newline"),
        pytest.param(b"a\r\nb\r\n", "a\r\n", "a\n", b"a\nb\r\n", id="literal-cr"),
        pytest.param(b"a\nb\n", "a", "x\r\ny", b"x\r\ny\nb\n", id="literal-new"),
        pytest.param(
            b"a\nb\r\nc\n", "a\nb\nc", "x\ny\nz", b"x\ny\r\nz\n", id="mixed-kept"
        ),
        pytest.param(
            b"a\nb\r\nc\n", "b", "b\nb2", b"a\nb\r\nb2\r\nc\n", id="mixed-near"
        ),
        pytest.param(b"a\rb\r", "a\nb", "x\ny\nz", b"x\ry\rz\r", id="classic-mac"),
        pytest.param(
            b"10%\r20%\nend\n", "end", "a\nb", b"10%\r20%\na\nb\n", id="stray-cr"
        ),
        pytest.param(
            b"\xef\xbb\xbfa\nb\n", "a", "\u00e9", b"\xef\xbb\xbf\xc3\xa9\nb\n", id="bom"
        ),
        pytest.param(
            _utf16("a\r\nb\u00e9"), "a\nb", "x\ny", _utf16("x\r\ny\u00e9"), id="utf-16"
        ),
        pytest.param(
            # the bytes 00 61 also stand between two characters
            _utf16("\u6100\u0000a"),
            "a",
            "b",
            _utf16("\u6100\u0000b"),
            id="utf-16-aligned",
        ),
        pytest.param(
            b"\xfe\xff" + "a\nb".encode("utf-16-be"),
            "b",
            "\U0001f4a9",
            b"\xfe\xff" + "a\n\U0001f4a9".encode("utf-16-be"),
            id="utf-16-be",
        ),
        pytest.param(
            b"\xff\xfe\0\0" + "ab".encode("utf-32-le"),
            "b",
            "c",
            b"\xff\xfe\0\0" + "ac".encode("utf-32-le"),
            id="utf-32",
        ),
        pytest.param(_utf16("\0ab"), "b", "c", _utf16("\0ac"), id="utf-16-first-nul"),
        pytest.param(b"caf\xe9 a\n", "\u00e9 a", "\u20ac", b"caf\x80\n", id="latin-1"),
        pytest.param(b"\x81\xfe\n", "\x81", "\x8d", b"\x8d\xfe\n", id="control-8-bit"),
        pytest.param(
            b"\xc3\xa9 \xff a\n", "a", "\u00e8", b"\xc3\xa9 \xff \xc3\xa8\n", id="stray"
        ),
        pytest.param(b"\0a\0b\0", "a\0b", "\0", b"\0\0\0", id="nul"),
        pytest.param(b"a.c abc\n", "a.c", r"\1", b"\\1 abc\n", id="no-pattern"),
    ],
)
async def test_w66_edit_keeps_every_other_byte(
    edit: ModuleType, tmp_path: Path, *, before: bytes, old: str, new: str, after: bytes
) -> None:
    """Bytes in, bytes out: endings, marks and encodings stay as they are."""
    file = tmp_path / "file"
    file.write_bytes(before)
    assert await edit.run(file, old, new) == f"Edited {file}"
    assert file.read_bytes() == after


@pytest.mark.parametrize(
    ("content", "old", "said"),
    [
        (b"aaa", "aa", "occurs 2 times in {} (lines 1, 1)"),
        (b"a\nb\na\n", "a", "occurs 2 times in {} (lines 1, 3)"),
        (b"a\r\n\r\n\r\n", "\n\n", "occurs 2 times in {} (lines 1, 2)"),
        (b"a\n" * 12, "a", "occurs 12 times in {} (lines 1, 2, 3, 4, 5, 6, 7, 8, 9"),
        (b"  a = 1\n", "\ta = 1", "occurs 0 times in {}. Apart from white space, "),
        (b"a\nb\n", "a\r\nb", r"It contains \r, which is matched literally"),
        (b"a\nb\n", "c", "occurs 0 times in {}.\nFix: read the file again"),
        (b"", "c", "occurs 0 times"),
    ],
)
async def test_w66_edit_refuses_anything_but_one_match(
    edit: ModuleType, tmp_path: Path, content: bytes, old: str, said: str
) -> None:
    """Overlapping matches count; the message says how many, where and what to do."""
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(ValueError, match="Fix: ") as caught:
        await edit.run(str(file), old, "x")
    assert said.format(file) in str(caught.value)
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    ("old", "new", "error", "said"),
    [
        ("", "x", ValueError, "old_str is empty"),
        ("a", "a", ValueError, "are the same"),
        ("a\r\nb", "a\r\nb", ValueError, "are the same"),
        (b"a", "b", TypeError, "old_str must be a string, not bytes"),
        ("a", None, TypeError, "new_str must be a string, not NoneType"),
    ],
)
async def test_edit_refuses_arguments_that_mean_nothing(
    edit: ModuleType,
    tmp_path: Path,
    *,
    old: object,
    new: object,
    error: type[Exception],
    said: str,
) -> None:
    """What cannot be meant is refused before the file is opened."""
    with pytest.raises(error, match=said):
        await edit.run(tmp_path / "absent", old, new)


async def test_edit_refuses_a_character_that_the_file_cannot_express(
    edit: ModuleType, tmp_path: Path
) -> None:
    """An 8-bit file stays one; nothing is written with a substitute."""
    file = tmp_path / "file"
    file.write_bytes(b"caf\xe9\n")
    with pytest.raises(ValueError, match="cannot express"):
        await edit.run(file, "caf", "\u4e2d")
    assert file.read_bytes() == b"caf\xe9\n"


@pytest.mark.parametrize(
    ("path", "error", "said"),
    [
        ("absent.txt", FileNotFoundError, "there is no file"),
        (".", IsADirectoryError, "is a directory"),
        ("pipe", OSError, "is not a regular file"),
        (3, TypeError, "path must be a string or a path, not int"),
    ],
)
async def test_edit_refuses_what_is_no_file(
    edit: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    path: object,
    error: type[Exception],
    said: str,
) -> None:
    """Only a regular file is edited, and a pipe is not waited for."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with pytest.raises(error, match=said):
        await edit.run(path, "a", "b")


async def test_edit_expands_the_home_directory(edit: ModuleType, home: Path) -> None:
    """``~`` is the home directory, and the answer names the real path."""
    (home / "notes").write_bytes(b"a")
    assert await edit.run("~/notes", "a", "b") == f"Edited {home / 'notes'}"
    assert (home / "notes").read_bytes() == b"b"


async def test_edit_changes_the_target_of_a_symbolic_link(
    edit: ModuleType, tmp_path: Path
) -> None:
    """The link stays a link."""
    target = tmp_path / "deep" / "target"
    target.parent.mkdir()
    target.write_bytes(b"a")
    link = tmp_path / "link"
    link.symlink_to("deep/target")
    assert await edit.run(link, "a", "b") == f"Edited {target}"
    assert link.is_symlink()
    assert target.read_bytes() == b"b"


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o755, 0o4750])
async def test_edit_keeps_the_mode(edit: ModuleType, tmp_path: Path, mode: int) -> None:
    """A script stays executable and a private file private."""
    file = tmp_path / "file"
    file.write_bytes(b"a")
    file.chmod(mode)
    await edit.run(file, "a", "b")
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_edit_replaces_the_file_in_one_step(edit: ModuleType, tmp_path: Path) -> None:
    """Whoever has the old file open goes on reading the old text, all of it."""
    file = tmp_path / "file"
    file.write_bytes(b"old text")
    with file.open("rb") as reader:
        asyncio.run(edit.run(file, "old", "new"))
        assert reader.read() == b"old text"
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder of an ordinary user, and the rights of one, also where root tests."""
    folder = Path(tempfile.mkdtemp(prefix="prime-skills-edit-")).resolve()
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if is_root:
            os.seteuid(0)
        folder.chmod(0o700)
        shutil.rmtree(folder)


def test_edit_leaves_the_file_when_its_directory_is_read_only(
    edit: ModuleType, unprivileged: Path
) -> None:
    """Without a place for the new file nothing is written at all."""
    file = unprivileged / "file"
    file.write_bytes(b"a")
    unprivileged.chmod(0o500)
    with pytest.raises(PermissionError, match="is read-only, so file cannot"):
        asyncio.run(edit.run(file, "a", "b"))
    assert file.read_bytes() == b"a"


def test_edit_respects_a_file_that_is_read_only(
    edit: ModuleType, unprivileged: Path
) -> None:
    """A rename would get past the file's mode; the check does not let it."""
    file = unprivileged / "file"
    file.write_bytes(b"a")
    file.chmod(0o400)
    with pytest.raises(PermissionError, match="is read-only"):
        asyncio.run(edit.run(file, "a", "b"))
    assert file.read_bytes() == b"a"
    assert [item.name for item in unprivileged.iterdir()] == ["file"]


def test_edit_leaves_no_temporary_file_when_the_file_changed_meanwhile(
    edit: ModuleType, tmp_path: Path
) -> None:
    """Somebody else's change wins, and ours leaves nothing behind."""
    file = tmp_path / "file"
    file.write_bytes(b"a")
    before = file.stat()
    file.write_bytes(b"theirs")
    with pytest.raises(OSError, match="changed by somebody else"):
        edit.replace(file, b"ours", state=before)
    assert file.read_bytes() == b"theirs"
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


async def test_edit_loses_nothing_when_two_edits_run_together(
    edit: ModuleType, tmp_path: Path
) -> None:
    """Edits of one file that are gathered all arrive."""
    file = tmp_path / "file"
    file.write_bytes(b"a b c")
    edits = (edit.run(file, letter, letter.upper()) for letter in "abc")
    await asyncio.gather(*edits)
    assert file.read_bytes() == b"A B C"


#: Any text but line ends, the marks below, and NUL: FF FE 00 00 begins UTF-32 as well
#: as UTF-16 with a NUL, and some such files are both.
PIECE = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0«»"), max_size=6)
TEXT = st.lists(PIECE, min_size=1, max_size=3).map("\n".join)


@given(
    around=st.tuples(TEXT, TEXT),
    old=st.tuples(TEXT, TEXT).map("«".join),
    new=st.tuples(TEXT, TEXT).map("»".join),
    ending=st.sampled_from(["\n", "\r\n"]),
    codec=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
)
@settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_edit_and_the_reverse_edit_give_the_same_bytes(
    edit: ModuleType,
    tmp_path: Path,
    *,
    around: tuple[str, str],
    old: str,
    new: str,
    ending: str,
    codec: str,
) -> None:
    """Whatever the text, its endings and encoding: back is where it was.

    A mark makes either snippet occur once; a line of its own keeps the endings known.
    """
    text, changed = (
        f"first\n{around[0]}{snippet}{around[1]}" for snippet in (old, new)
    )
    data, expected = (
        item.replace("\n", ending).encode(codec) for item in (text, changed)
    )
    file = tmp_path / "file"
    file.write_bytes(data)
    asyncio.run(edit.run(file, old, new))
    assert file.read_bytes() == expected
    asyncio.run(edit.run(file, new, old))
    assert file.read_bytes() == data
