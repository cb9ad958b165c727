"""Any Agent Skill becomes a function of your kernel.

``%load_ext prime_skills_ext`` in a notebook or in IPython is the usual way in; the
names below serve programs. The front door holds no logic, and importing it imports
neither IPython nor traitlets: what needs them is loaded when it is asked for.
"""

from __future__ import annotations

from importlib import import_module

# as typing has it, whose import takes longer than all of a warm launcher's others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from IPython.core.interactiveshell import InteractiveShell

    from prime_skills_ext.catalog.discovery import discover
    from prime_skills_ext.catalog.selection import select
    from prime_skills_ext.environment.plan import plan_installs
    from prime_skills_ext.errors import (
        CallTimeoutError,
        CredentialError,
        HostError,
        InstallError,
        KernelspecError,
        PackageError,
        PrimeSkillsError,
        ProcessError,
        SettingsError,
        SkillPermissionError,
        SkillUnavailableError,
        TrustError,
        UnknownSkillError,
        UvNotFoundError,
    )
    from prime_skills_ext.kernel.binding import Binder
    from prime_skills_ext.manager import SkillManager
    from prime_skills_ext.prompt.budget import Budget
    from prime_skills_ext.prompt.listing import Listing
    from prime_skills_ext.prompt.offer import render
    from prime_skills_ext.skill.model import Skill

__all__ = [
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

__version__ = "0.1.0"

_LATER = {
    "Binder": "prime_skills_ext.kernel.binding",
    "Budget": "prime_skills_ext.prompt.budget",
    "Listing": "prime_skills_ext.prompt.listing",
    "Skill": "prime_skills_ext.skill.model",
    "SkillManager": "prime_skills_ext.manager",
    "discover": "prime_skills_ext.catalog.discovery",
    "plan_installs": "prime_skills_ext.environment.plan",
    "render": "prime_skills_ext.prompt.offer",
    "select": "prime_skills_ext.catalog.selection",
}


def __getattr__(name: str) -> Any:
    home = _LATER.get(name)
    if home is None and name.endswith("Error") and name in __all__:
        home = "prime_skills_ext.errors"
    if home is not None:
        return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """Find, install and bind the skills that count here. IPython calls this."""
    # a warm launcher imports this package and nothing of it that it can do without
    from prime_skills_ext.garbage import without_collection  # noqa: PLC0415

    with without_collection():
        from prime_skills_ext import magics  # noqa: PLC0415  # imports IPython

    magics.load(ipython)


def unload_ipython_extension(ipython: InteractiveShell) -> None:
    """Leave the shell exactly as it was before the load. IPython calls this."""
    from prime_skills_ext import magics  # noqa: PLC0415  # imports IPython

    magics.unload(ipython)
