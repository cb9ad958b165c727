"""The names that we put into a user's namespace, and which of them are still ours.

It knows nothing of skills.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from typing import final

__all__ = ["Namespace"]


@final
class Namespace:
    """What we bound in a user's namespace, remembered by identity.

    A name that the user bound, before or since, is theirs.

    Args:
        user_ns: ``shell.user_ns``.
        hidden: ``shell.user_ns_hidden``: what ``%who`` does not show.
    """

    def __init__(
        self,
        user_ns: MutableMapping[str, object],
        *,
        hidden: MutableMapping[str, object],
    ) -> None:
        self._user_ns = user_ns
        self._hidden = hidden
        self._bound: dict[str, object] = {}

    def __iter__(self) -> Iterator[str]:
        """Iterate over what we bound; it may be released on the way."""
        return iter([*self._bound])

    def holds(self, name: str) -> bool:
        """Whether a name is bound to what we bound it to."""
        return name in self._bound and self._user_ns.get(name) is self._bound[name]

    def picture(self, names: Iterable[str]) -> dict[str, object]:
        """What some names, and all that we bound, mean now, by identity."""
        return {
            name: (id(self._user_ns.get(name)), name in self._user_ns)
            for name in (*names, *self._bound)
        }

    def assign(self, name: str, value: object) -> bool:
        """Bind a name unless the user has something else there."""
        if name in self._user_ns:
            current = self._user_ns[name]
            ours = name in self._bound and current is self._bound[name]
            if not ours and current is not value:
                self.release(name)
                return False
        self._user_ns[name] = value
        self._hidden[name] = value
        self._bound[name] = value
        return True

    def release(self, name: str) -> None:
        """Give a name up; only what is still ours disappears."""
        if name not in self._bound:
            return
        value = self._bound.pop(name)
        for namespace in (self._user_ns, self._hidden):
            if name in namespace and namespace[name] is value:
                del namespace[name]
