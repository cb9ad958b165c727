"""What is said of an import that failed: the reason in one sentence, and the fix."""

from __future__ import annotations

import os
from pathlib import Path

from prime_skills_ext.catalog.status import Problem
from prime_skills_ext.kernel.placeholder import UnavailableImportError, unavailable

__all__ = ["import_failed", "import_refused"]


def import_failed(error: BaseException, *, src: Path | None = None) -> Problem:
    """Say why an import failed, with the type that a bare text would lack.

    Args:
        error: What the import raised.
        src: Where the skill's modules lie. Files are named as seen from there, so
            that the same fault reads the same on every machine.
    """
    kind = type(error).__name__
    try:
        text = str(error).strip().partition("\n")[0]
    except Exception:  # noqa: BLE001  # a skill's own exception class
        text = ""
    if isinstance(error, ImportError) and error.path:
        # Python appends where it looked; the names before that are what helps
        text = text.removesuffix(f" ({error.path})")
    if src is not None:
        text = text.replace(f"{src}{os.sep}", "")
    reason = f"{kind}: {text}" if text else kind
    if isinstance(error, UnavailableImportError):
        reason = text
    return Problem(state="import-failed", reason=reason, fix=_repair(error))


def _repair(error: BaseException) -> str:
    name = getattr(error, "name", None)
    if isinstance(error, ModuleNotFoundError) and name and "." not in name:
        return (
            f"add what brings `{name}` to `dependencies` in its pyproject.toml, or "
            "repair its code, then run %reload_skills"
        )
    return "Repair the skill's code, then run %reload_skills"


def import_refused(root: str, *, error: BaseException) -> UnavailableImportError:
    """What an import of a skill raises whose code failed before."""
    problem = import_failed(error)
    raised = UnavailableImportError(
        unavailable(root, problem=problem), fix=problem.fix, name=root
    )
    raised.__cause__ = error
    return raised
