"""The kernelspec: what it says, where it goes, that it starts."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from prime_skills_ext import kernelspec
from prime_skills_ext.errors import KernelspecError

_WHEEL = Path(__file__).parents[1] / "kernelspec" / "prime-skills"


def _spec(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(
        (folder / "kernel.json").read_text(encoding="utf-8")
    )
    return found


def test_nb01_spec_in_the_wheel_is_the_one_that_is_built() -> None:
    """What the wheel ships is what the code builds; its ``python`` is Jupyter's."""
    assert kernelspec.build_spec() == _spec(_WHEEL)


def test_spec_in_the_wheel_has_the_bytes_that_are_written(tmp_path: Path) -> None:
    """The shipped file is written by the same code, to the byte."""
    folder = kernelspec.write_spec(kernelspec.build_spec(), directory=tmp_path / "k")

    expected = (_WHEEL / "kernel.json").read_bytes()
    assert expected == (folder / "kernel.json").read_bytes()


def test_nb02_installed_spec_names_this_interpreter_absolutely(tmp_path: Path) -> None:
    """An installed spec starts the interpreter that installed it, from any server."""
    folder = kernelspec.install(prefix=tmp_path, start=False)

    assert tmp_path / "share" / "jupyter" / "kernels" / "prime-skills" == folder
    argv = _spec(folder)["argv"]
    assert isinstance(argv, list)
    assert [sys.executable, "-m", "prime_skills_ext.launcher"] == argv[:3]
    assert Path(argv[0]).is_absolute()


def test_install_copies_the_logos(tmp_path: Path) -> None:
    """Jupyter's launcher shows a picture in each of its sizes."""
    folder = kernelspec.install(prefix=tmp_path, start=False)

    expected = ["kernel.json", "logo-32x32.png", "logo-64x64.png", "logo-svg.svg"]
    assert expected == sorted(path.name for path in folder.iterdir())


def test_install_replaces_ours_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    """A second install takes the place of the first; no staging folder stays."""
    kernelspec.install(prefix=tmp_path, start=False)
    folder = kernelspec.install(prefix=tmp_path, display_name="Mine", start=False)

    assert _spec(folder)["display_name"] == "Mine"
    assert [path.name for path in folder.parent.iterdir()] == ["prime-skills"]


def test_install_for_the_user_goes_to_jupyters_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a choice the spec is for this user, in any Jupyter."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))

    folder = kernelspec.install(start=False)

    assert tmp_path / "data" / "kernels" / "prime-skills" == folder


def test_nb02_install_refuses_two_places(tmp_path: Path) -> None:
    """``--user`` with ``--prefix`` has no meaning and says so."""
    with pytest.raises(KernelspecError, match="one place"):
        kernelspec.install(user=True, prefix=tmp_path, start=False)


def test_install_refuses_a_name_that_is_a_path(tmp_path: Path) -> None:
    """A name cannot lead out of Jupyter's folder."""
    with pytest.raises(KernelspecError, match="cannot be named"):
        kernelspec.install(prefix=tmp_path, name="../there", start=False)


def test_a_strangers_spec_is_left_alone(tmp_path: Path) -> None:
    """A kernel of somebody else under our name is neither overwritten nor removed."""
    folder = tmp_path / "share" / "jupyter" / "kernels" / "prime-skills"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text('{"argv": ["other"]}', encoding="utf-8")

    with pytest.raises(KernelspecError, match="not ours"):
        kernelspec.install(prefix=tmp_path, start=False)
    with pytest.raises(KernelspecError, match="not ours"):
        kernelspec.remove(prefix=tmp_path)

    assert _spec(folder) == {"argv": ["other"]}


def test_install_says_where_it_may_not_write(tmp_path: Path) -> None:
    """A place that cannot be made is an error with a way out."""
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")

    with pytest.raises(KernelspecError, match="cannot be written") as caught:
        kernelspec.install(prefix=blocked, start=False)

    assert "--prefix" in caught.value.fix


def test_remove_undoes_install(tmp_path: Path) -> None:
    """What was installed is gone, its neighbours stay."""
    folder = kernelspec.install(prefix=tmp_path, start=False)
    other = kernelspec.install(prefix=tmp_path, name="other", start=False)

    assert folder == kernelspec.remove(prefix=tmp_path)
    assert [other] == list(folder.parent.iterdir())


def test_remove_says_that_there_is_none(tmp_path: Path) -> None:
    """Removing what is not there is an error that tells how to look."""
    with pytest.raises(KernelspecError, match="no kernelspec"):
        kernelspec.remove(prefix=tmp_path)


def test_verify_accepts_a_kernel_that_computes(tmp_path: Path) -> None:
    """A real kernel is started, computes and is stopped."""
    note = tmp_path / "pid"
    code = (
        "import os, pathlib, runpy; "
        f"pathlib.Path({str(note)!r}).write_text(str(os.getpid())); "
        "runpy.run_module('ipykernel_launcher', run_name='__main__')"
    )
    argv = [sys.executable, "-c", code, "-f", "{connection_file}"]
    spec = {**kernelspec.build_spec(), "argv": argv}
    folder = kernelspec.write_spec(spec, directory=tmp_path / "plain")

    assert kernelspec.verify(folder) is None

    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text(encoding="utf-8")), 0)


def test_verify_tells_why_it_is_another_kernel_than_the_wanted_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that works in spite of a failure is not passed off as the wanted one."""
    monkeypatch.setenv("PRIME_AGENT_KERNEL_PYTHON", "/nowhere/python")
    spec = kernelspec.build_spec(python=sys.executable)
    folder = kernelspec.write_spec(spec, directory=tmp_path / "other")

    reason = kernelspec.verify(folder)

    assert "names no program: /nowhere/python" in (reason or "")


def test_verify_tells_why_a_kernel_does_not_start(tmp_path: Path) -> None:
    """The last words of the process are in the error."""
    argv = [sys.executable, "-c", "raise SystemExit('no such luck')"]
    spec = {**kernelspec.build_spec(), "argv": argv}
    folder = kernelspec.write_spec(spec, directory=tmp_path / "dead")

    with pytest.raises(KernelspecError, match="no such luck"):
        kernelspec.verify(folder, timeout_s=30)
