"""What stands where a skill cannot be used: it explains itself when touched."""

from __future__ import annotations

import textwrap
from functools import partial
from typing import Any, NoReturn, final

from prime_skills_ext.catalog.status import Problem
from prime_skills_ext.errors import SkillUnavailableError

__all__ = [
    "UnavailableAttributeError",
    "UnavailableImportError",
    "UnavailableSkill",
    "unavailable",
]


@final
class UnavailableAttributeError(SkillUnavailableError, AttributeError):
    """An attribute of a skill that cannot be used; ``hasattr`` stays quiet."""


@final
class UnavailableImportError(SkillUnavailableError, ImportError):  # type: ignore[misc]  # both have a `path`
    """A skill that cannot be used was imported."""

    def __init__(self, message: str, *, fix: str, name: str) -> None:
        super().__init__(message, fix=fix)
        # RuntimeError comes first, so ImportError's own fields are set by hand
        self.msg = message
        self.name = name

    def __reduce__(self) -> tuple[object, ...]:
        # ImportError keeps its fields outside of __dict__
        make = partial(type(self), self.message, fix=self.fix, name=self.name or "")
        return make, ()


class _Documentation:
    """``__doc__`` of the object on the object, of the class on the class."""

    def __init__(self, own: str | None) -> None:
        self._own = own

    def __get__(
        self, skill: UnavailableSkill | None, owner: type[UnavailableSkill]
    ) -> str | None:
        return self._own if skill is None else skill._describe()  # noqa: SLF001  # its public names raise


@final
class UnavailableSkill:
    """Stands for a skill that cannot be used.

    Calling it or touching a public attribute raises ``SkillUnavailableError``
    with the original error chained; looking at it does not.

    Args:
        name: The skill's name.
        import_name: The name that it would have been bound to.
        problem: State, reason and fix.
        error: The original error, if there is one.
    """

    __slots__ = ("__name__", "__weakref__", "_error", "_name", "_problem")

    def __init__(
        self,
        name: str,
        *,
        import_name: str,
        problem: Problem,
        error: BaseException | None = None,
    ) -> None:
        self.__name__ = import_name
        self._name = name
        self._problem = problem
        self._error = error

    def __call__(self, /, *_: Any, **__: Any) -> NoReturn:
        """Raise ``SkillUnavailableError`` with the reason and the fix."""
        raise SkillUnavailableError(
            self._message(), fix=self._problem.fix
        ) from self._error

    def __getattr__(self, attribute: str) -> NoReturn:
        # tools probe names such as _repr_html_, __wrapped__ and _ipython_display_
        if attribute.startswith("_"):
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {attribute!r}"
            )
        raise UnavailableAttributeError(
            self._message(), fix=self._problem.fix
        ) from self._error

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if name.startswith("__")]

    def __repr__(self) -> str:
        return f"<skill {self._name!r} is not usable: {self._problem.state}>"

    def _message(self) -> str:
        return unavailable(self._name, problem=self._problem)

    def _describe(self) -> str:
        told = (
            f"Skill {self._name!r} cannot be used in this kernel.\n\n"
            f"State:  {self._problem.state}\n"
            f"Reason: {self._problem.reason}\n"
            f"Fix:    {self._problem.fix}"
        )
        if not self._problem.log:
            return told
        said = textwrap.indent(self._problem.log, "    ")
        return (
            f"{told}\nLog:    the last lines; %skill log {self._name} shows all\n{said}"
        )


type.__setattr__(UnavailableSkill, "__doc__", _Documentation(UnavailableSkill.__doc__))


def unavailable(name: str, *, problem: Problem) -> str:
    """Say that a skill cannot be used, and why."""
    return f"Skill {name!r} is not usable ({problem.state}): {problem.reason}"
