"""What is installed, read from the metadata of distributions; nothing is imported."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import metadata
from pathlib import PurePosixPath

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from prime_skills_ext.skill.distributions import Distributions

__all__ = ["read_distributions"]


def read_distributions(path: Iterable[str]) -> Distributions:
    """Read which names each distribution brings, and what it requires.

    Args:
        path: Folders like those of ``sys.path``; the first of one name counts.
    """
    provides: dict[str, frozenset[str]] = {}
    requires: dict[str, frozenset[str]] = {}
    for item in metadata.distributions(path=list(path)):
        name = item.metadata["Name"]
        if not name or (key := canonicalize_name(name)) in provides:
            continue
        provides[key] = frozenset(_import_names(item))
        requires[key] = frozenset(_required(item))
    return Distributions(provides=provides, requires=requires)


def _import_names(item: metadata.Distribution) -> Iterable[str]:
    listed = (item.read_text("top_level.txt") or "").split()
    if listed:
        return listed
    # editable installs list no modules: a finder or a `.pth` file brings them
    parts = (PurePosixPath(str(file)).parts for file in item.files or ())
    return {
        first[0].partition(".")[0]
        for first in parts
        if first[-1].endswith((".py", ".so", ".pyd"))
        and not first[0].endswith((".dist-info", ".data"))
        and first[0] != ".."
    }


def _required(item: metadata.Distribution) -> Iterable[str]:
    for text in item.requires or ():
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        marker = requirement.marker
        if marker is None or marker.evaluate({"extra": ""}):
            yield canonicalize_name(requirement.name)
