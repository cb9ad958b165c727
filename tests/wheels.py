"""Wheels that stand in for an index."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from prime_skills_ext.environment.wheel import Wheel

__all__ = ["publish"]


def publish(
    folder: Path,
    name: str,
    version: str,
    *requires: str,
    files: Mapping[str, str] | None = None,
) -> Path:
    """Write a distribution with one module, which knows its ``version``."""
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {line}" for line in requires]
    module = {f"{name.replace('-', '_')}.py": f"version = {version!r}\n"}
    wheel = Wheel(
        name=name,
        version=version,
        metadata="\n".join(lines) + "\n",
        files={path: text.encode() for path, text in (files or module).items()},
    )
    path = wheel.write(folder / ".store")
    return path.rename(folder / path.name)
