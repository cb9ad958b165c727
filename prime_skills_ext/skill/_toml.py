"""Typed reading of TOML tables: what has the wrong type is reported and absent.

It knows how to say what is wrong in a file and on which line; which fields there
are is ``pyproject``'s to know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import tomli

from prime_skills_ext.skill.model import Diagnostic, Severity

__all__ = ["TableReader", "load"]

T = TypeVar("T")

_WORDS: tuple[tuple[type, str, str], ...] = (
    (str, "text", '"…"'),
    (list, "a list", '["…"]'),
    (dict, "a table", "{ … }"),
    (bool, "true or false", "true"),
)


def load(
    text: str, *, path: Path | None
) -> tuple[dict[str, Any] | None, Diagnostic | None]:
    """Read TOML; ``None`` and a diagnostic when it is none."""
    try:
        return tomli.loads(text), None
    except tomli.TOMLDecodeError as error:
        # `colno` and `lineno` came with tomli 2.1
        line = getattr(error, "lineno", None)
        column = getattr(error, "colno", None)
        reason = str(error)
    # ValueError: a number with thousands of digits
    except (ValueError, RecursionError) as error:
        line = column = None
        reason = str(error)
    where = "the file" if line is None else f"line {line}"
    return None, Diagnostic(
        code="toml-invalid",
        message=f"The file is not valid TOML: {reason}.",
        fix=f"Correct {where}.",
        severity="error",
        path=path,
        line=line,
        column=column,
    )


@dataclass(slots=True)
class TableReader:
    """Reads values out of one document and collects what is wrong with them."""

    text: str
    path: Path | None
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def report(
        self,
        code: str,
        message: str,
        *,
        fix: str,
        where: str,
        key: str | None = None,
        severity: Severity = "error",
    ) -> None:
        self.diagnostics.append(
            Diagnostic(
                code=code,
                message=message,
                fix=fix,
                severity=severity,
                path=self.path,
                line=self._find_line(where, key),
            )
        )

    def value(
        self, table: Mapping[str, Any], key: str, kind: type[T], *, where: str
    ) -> T | None:
        """Return ``table[key]`` if it has the type."""
        value = table.get(key)
        if value is None or isinstance(value, kind):
            return value
        self._report_type(key, value, kind=kind, where=where)
        return None

    def table(
        self, table: Mapping[str, Any], key: str, *, where: str = ""
    ) -> Mapping[str, Any]:
        """Return a table, an empty one when it is absent."""
        found: dict[str, Any] | None = self.value(table, key, dict, where=where)
        return found or {}

    def texts(
        self, table: Mapping[str, Any], key: str, *, where: str
    ) -> tuple[str, ...]:
        """Return the texts in a list."""
        values: list[Any] = self.value(table, key, list, where=where) or []
        for value in values:
            if not isinstance(value, str):
                self._report_type(key, value, kind=str, where=where, inside=True)
        return tuple(value for value in values if isinstance(value, str))

    def pairs(
        self, table: Mapping[str, Any], key: str, *, where: str
    ) -> dict[str, str]:
        """Return a table of texts."""
        inner = f"{where}.{key}"
        values = self.table(table, key, where=where)
        found = {name: self.value(values, name, str, where=inner) for name in values}
        return {name: value for name, value in found.items() if value is not None}

    def parsed(
        self,
        text: str,
        parser: Callable[[str], T],
        *,
        key: str,
        where: str,
        example: str,
    ) -> T | None:
        """Return what ``parser`` makes of a text; it refuses with ``ValueError``."""
        try:
            return parser(text)
        except (ValueError, RecursionError) as error:
            reason = str(error).partition("\n")[0]
            self.report(
                "project-value",
                f"`{_shown(text)}` in {_named(where, key)} is not valid: {reason}.",
                fix=f"Correct it; valid is for example `{example}`.",
                where=where,
                key=key,
            )
            return None

    def _report_type(
        self, key: str, value: object, *, kind: type, where: str, inside: bool = False
    ) -> None:
        wanted, example = next(
            (words, example) for known, words, example in _WORDS if known is kind
        )
        given = next(
            (words for known, words, _ in _WORDS if isinstance(value, known)),
            "a number or date",
        )
        subject = f"An item of {_named(where, key)}" if inside else _named(where, key)
        shape = '["…"]' if inside else example
        self.report(
            "project-type",
            f"{subject} is {given} where {wanted} is expected.",
            fix=f"Write `{key} = {shape}`.",
            where=where,
            key=key,
        )

    def _find_line(self, where: str, key: str | None) -> int:
        """Find the line of a key below its table's header; the first one without."""
        header = re.search(
            rf"^[ \t]*\[+[ \t]*{re.escape(where)}[ \t]*\]+", self.text, re.MULTILINE
        )
        start = header.start() if header else 0
        found = header
        if key is not None:
            pattern = (
                rf"""^[ \t]*(?:\[+[^\]\n]*)?["']?{re.escape(key)}["']?[ \t]*[=.\]]"""
            )
            found = re.compile(pattern, re.MULTILINE).search(self.text, start) or header
        return 1 if found is None else self.text.count("\n", 0, found.start()) + 1


def _named(where: str, key: str) -> str:
    return f"[{where}] {key}" if where else f"[{key}]"


def _shown(text: str) -> str:
    return " ".join(text.split())[:60]
