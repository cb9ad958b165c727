"""Where uv is found, and what it sees."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from prime_skills_ext import process
from prime_skills_ext.environment.uv import find_uv, open_uv, scrubbed_environ
from prime_skills_ext.errors import SettingsError, UvNotFoundError


def test_uv_is_found_in_its_package_first(tmp_path: Path) -> None:
    """PRIME_SKILLS_UV, then the package, whatever PATH holds."""
    assert find_uv({"PATH": ""}).name == "uv"
    named = tmp_path / "my-uv"
    named.touch(mode=0o755)
    assert find_uv({"PRIME_SKILLS_UV": str(named)}) == named


def test_uv_is_found_on_the_path_at_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the package the one on PATH serves; without any it is told where."""
    import uv

    def nothing() -> str:
        raise FileNotFoundError("no uv in the package")

    monkeypatch.setattr(uv, "find_uv_bin", nothing)
    (tmp_path / "uv").touch(mode=0o755)
    assert find_uv({"PATH": str(tmp_path)}) == tmp_path / "uv"
    with pytest.raises(UvNotFoundError) as caught:
        find_uv({"PATH": "/nowhere"})
    assert "looked in: PRIME_SKILLS_UV (not set)" in caught.value.message
    assert caught.value.message.endswith("PATH (/nowhere)")
    with pytest.raises(UvNotFoundError, match=r"PATH \(empty\)"):
        find_uv({})
    with pytest.raises(UvNotFoundError, match=r"PATH \(/0, /1, /2 and 37 more\)"):
        find_uv({"PATH": ":".join(f"/{number}" for number in range(40))})


def test_uv_may_be_uninstalled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel whose package uv is gone loads; the one on PATH serves, or none."""
    monkeypatch.setitem(sys.modules, "uv", None)
    program = tmp_path / "uv"
    program.touch(mode=0o755)
    assert open_uv({"PATH": str(tmp_path)}).binary == program
    with pytest.raises(UvNotFoundError, match="pip install uv"):
        find_uv({"PATH": "/nowhere"})


def test_uv_that_is_not_installed_stops_no_load() -> None:
    """Nothing of this package needs the package uv to be imported."""
    code = "import sys; sys.modules['uv'] = None; import prime_skills_ext.magics"
    done = process.run([sys.executable, "-c", code], cwd=Path.cwd(), timeout_s=60)
    assert (done.stderr, done.returncode) == ("", 0)


def test_environment_of_uv_is_scrubbed() -> None:
    """Only index, cache and certificates come through; colours do not."""
    given = {
        "PATH": "/bin",
        "SSL_CERT_FILE": "/certs",
        "UV_CACHE_DIR": "/cache",
        "UV_INDEX_URL": "https://host/simple",
        "UV_DEFAULT_INDEX": "https://host/simple",
        "UV_HTTP_TIMEOUT": "300",
        "UV_PROJECT_ENVIRONMENT": "/decoy",
        "UV_NO_BUILD_ISOLATION": "1",
        "VIRTUAL_ENV": "/decoy",
        "CONDA_PREFIX": "/decoy",
        "PIP_INDEX_URL": "x",
        "PYTHONPATH": "/decoy",
        "FORCE_COLOR": "1",
    }
    kept = ["PATH", "SSL_CERT_FILE", "UV_CACHE_DIR", "UV_INDEX_URL", "UV_DEFAULT_INDEX"]
    kept += ["UV_HTTP_TIMEOUT"]
    expected = {name: given[name] for name in kept} | {"NO_COLOR": "1"}
    assert scrubbed_environ(given) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [("1", True), ("0", False), ("", False)]
)
def test_offline_is_what_the_variables_say(value: str, *, expected: bool) -> None:
    """PI_OFFLINE and uv's own variable, read as people write them."""
    assert open_uv({"PI_OFFLINE": value}).offline is expected
    assert open_uv({"UV_OFFLINE": value}).offline is expected


@pytest.mark.parametrize("value", ["soon", "0", "-1", "inf", "nan", "1h"])
def test_limit_that_is_no_number_of_seconds_is_told(value: str) -> None:
    """Passed over in silence it would be looked for in the wrong place."""
    with pytest.raises(SettingsError, match="PRIME_SKILLS_UV_TIMEOUT is"):
        open_uv({"PRIME_SKILLS_UV_TIMEOUT": value})


def test_limit_and_index_are_settings_of_a_uv() -> None:
    """What may let another attempt end otherwise."""
    plain = open_uv({"PATH": "/bin"}).settings
    assert plain == open_uv({"PATH": "/usr/bin", "COLUMNS": "7"}).settings
    for name in ("PRIME_SKILLS_UV_TIMEOUT", "UV_DEFAULT_INDEX", "https_proxy"):
        assert plain != open_uv({"PATH": "/bin", name: "1"}).settings


def test_identity_of_another_uv_is_its_file(tmp_path: Path) -> None:
    """A uv that is not the package's is known by path, size and time."""
    path = tmp_path / "uv"
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    identity = open_uv({"PRIME_SKILLS_UV": str(path)}).identity
    assert identity.startswith(f"{path}:10:")
    assert open_uv({}).identity != identity
