"""Where nested values of a header stand; what they are is ``frontmatter``'s to say."""

from __future__ import annotations

import yaml

from prime_skills_ext.skill._document import Problem
from prime_skills_ext.skill._yaml import read

__all__ = ["Path", "find_position"]

#: Keys of maps and places in lists, from the top.
Path = tuple[str | int, ...]


def find_position(header: str, path: Path) -> tuple[int, int] | None:
    """Return line and column, from 0, of a key or list item.

    Args:
        header: YAML.
        path: The way to it; as much of it as exists is followed.

    Returns:
        ``None`` when the header is not valid YAML.
    """
    # read() bounds the nesting, which PyYAML's composer leaves to the C stack
    if isinstance(read(header), Problem):
        return None
    node = yaml.compose(header, Loader=yaml.BaseLoader)
    mark = None
    for step in path:
        found = _step(node, step)
        if found is None:
            break
        at, node = found
        mark = at.start_mark
    return None if mark is None else (mark.line, mark.column)


def _step(
    node: yaml.Node | None, step: str | int
) -> tuple[yaml.Node, yaml.Node] | None:
    """Return the node to point at and the node to go on from."""
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        item = node.value[step] if step < len(node.value) else None
        return None if item is None else (item, item)
    if not isinstance(node, yaml.MappingNode):
        return None
    # of a key that is written twice the last one counts
    for key, value in reversed(node.value):
        if key.value == step:
            return key, value
    return None
