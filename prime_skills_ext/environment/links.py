"""The ``.pth`` files of ours in a generation, by name."""

from __future__ import annotations

__all__ = ["KERNEL_PTH", "link_of"]

KERNEL_PTH = "zz-prime-skills-kernel.pth"
"""Lets a generation's own python import what the kernel has, after its own."""


def link_of(project: str) -> str:
    """The file that the editable wheel which we write for a skill brings.

    Args:
        project: Canonical name of the skill's distribution.
    """
    return f"__editable__.{project.replace('-', '_')}.pth"
