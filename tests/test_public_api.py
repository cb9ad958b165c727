"""The front door: what it offers and what it does not import."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import prime_skills_ext
from prime_skills_ext import process


def test_the_public_names_are_these() -> None:
    """Adding or removing a public name is a decision, not an accident."""
    expected = [
        "Binder",
        "Budget",
        "CallTimeoutError",
        "CredentialError",
        "HostError",
        "InstallError",
        "KernelspecError",
        "Listing",
        "PackageError",
        "PrimeSkillsError",
        "ProcessError",
        "SettingsError",
        "Skill",
        "SkillManager",
        "SkillPermissionError",
        "SkillUnavailableError",
        "TrustError",
        "UnknownSkillError",
        "UvNotFoundError",
        "__version__",
        "discover",
        "load_ipython_extension",
        "plan_installs",
        "render",
        "select",
        "unload_ipython_extension",
    ]
    assert expected == sorted(prime_skills_ext.__all__)


def test_every_public_name_is_there() -> None:
    """Also those that are loaded when asked for."""
    missing = [
        name
        for name in prime_skills_ext.__all__
        if getattr(prime_skills_ext, name, None) is None
    ]
    assert [] == missing
    assert set(prime_skills_ext.__all__) <= set(dir(prime_skills_ext))


def test_an_unknown_name_is_an_attribute_error() -> None:
    """As for any module."""
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = prime_skills_ext.nonsense


def test_import_loads_neither_ipython_nor_traitlets(tmp_path: Path) -> None:
    """A program that only wants a value must not pay for a shell."""
    code = (
        "import sys, prime_skills_ext; "
        "print(sorted({'IPython', 'traitlets', 'yaml', 'jupyter_client'}"
        " & set(sys.modules)))"
    )
    done = process.run([sys.executable, "-c", code], cwd=tmp_path, timeout_s=60)
    assert "[]" == done.stdout.strip()


def test_loading_the_extension_loads_only_what_a_start_needs(tmp_path: Path) -> None:
    """What shows, installs or starts a kernel is loaded when that is asked for."""
    later = "{'filelock', 'jupyter_client', 'markdown_it', 'nbclient', 'rich', 'yaml'}"
    code = (
        "import sys, prime_skills_ext.magics; "
        f"print(sorted({later} & set(sys.modules)))"
    )
    done = process.run([sys.executable, "-c", code], cwd=tmp_path, timeout_s=60)
    assert "[]" == done.stdout.strip()


def test_the_version_is_that_of_the_distribution() -> None:
    """One number in two places stays one number."""
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{prime_skills_ext.__version__}"' in text
