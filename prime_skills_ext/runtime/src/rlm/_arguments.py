"""How the parameters of ``run`` look on a command line.

This module owns the mapping from a signature to tyro's fields and back to a call. It
calls nothing of the skill and prints nothing but what tyro prints.

* Required parameters at the front, and ``*args``, are positional; each is accepted as
  ``--name`` too, and then leaves the line of positionals.
* Everything else is ``--name``, hyphens and underscores alike; a boolean is
  ``--name`` or ``--no-name``.
* ``dict`` parameters, and lists of them, take JSON. A parameter with a default and a
  type that no text can express (a client, a callback) keeps its default.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime as dt
import enum
import functools
import inspect
import json
import os
import sys
import types
import typing
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, Union

import tyro

__all__ = ["parse"]

_SCALARS = (
    *(str, int, float, complex, bytes, enum.Enum, PurePath, uuid.UUID),
    *(dt.date, dt.time, dt.timedelta),
)
_SEQUENCES = (list, tuple, set, frozenset)
_MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_UNIONS = (Union, getattr(types, "UnionType", Union))
_ORDERED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_EMPTY = inspect.Parameter.empty
_ABSTRACT = {name: getattr(collections.abc, name) for name in collections.abc.__all__}


@dataclasses.dataclass(frozen=True)
class _Json:
    """Stands for a type that is written as JSON."""


class _Unknown:
    """Stands for a type whose name leads nowhere: the default is kept."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Field:
    """One parameter as the command line has it."""

    parameter: inspect.Parameter
    annotation: Any
    is_json: bool = False

    @property
    def name(self) -> str:
        """The name in the signature."""
        return self.parameter.name

    @property
    def flag(self) -> str:
        """The option without its hyphens: ``global_`` is ``--global``."""
        return self.name.strip("_").replace("_", "-") or self.name

    @property
    def is_variadic(self) -> bool:
        """Whether it is ``*args``."""
        return self.parameter.kind is inspect.Parameter.VAR_POSITIONAL

    @property
    def is_required(self) -> bool:
        """Whether there is no default."""
        return self.parameter.default is _EMPTY and not self.is_variadic

    @property
    def is_switch(self) -> bool:
        """Whether it is a boolean without a default."""
        return self.is_required and self.annotation is bool


def parse(
    run: Callable[..., Any], *, program: str, argv: Sequence[str]
) -> tuple[list[Any], dict[str, Any]]:
    """Read ``argv`` as arguments of ``run``.

    Args:
        run: The function of the skill.
        program: The name in usage and error messages.
        argv: The arguments, without the program.

    Returns:
        Positional and keyword arguments for ``run``.

    Raises:
        RuntimeError: A required parameter has a type that no text can express.
        SystemExit: Status 2 for a usage error, 0 after ``--help``.
    """
    parameters = _signature(run).parameters.values()
    fields = tuple(_fields(run, parameters, program=program))
    positionals = _positionals(fields, argv)
    receiver = _receiver(run, fields, positionals, program=program)
    with warnings.catch_warnings():
        # tyro's remarks on defaults are for the author of a parser, not for a shell
        warnings.simplefilter("ignore")
        values = tyro.cli(receiver, prog=program, args=_with_switches(fields, argv))
    for field in fields:
        if field.is_json:
            values[field.name] = _from_json(values[field.name], field, program=program)
    return _call(parameters, values)


def _signature(run: Callable[..., Any]) -> inspect.Signature:
    if sys.version_info >= (3, 14):
        import annotationlib  # noqa: PLC0415 - new in 3.14

        form = annotationlib.Format.FORWARDREF
        return inspect.signature(run, annotation_format=form)
    return inspect.signature(run)


def _fields(
    run: Callable[..., Any],
    parameters: typing.Iterable[inspect.Parameter],
    *,
    program: str,
) -> typing.Iterator[_Field]:
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        annotation = _expressible(_annotation(run, parameter))
        if annotation is None:
            if parameter.default is not _EMPTY:
                continue
            message = (
                f"{program} cannot be run from a shell: no text can express its "
                f"parameter {parameter.name!r} ({parameter.annotation!r}).\n"
                "Fix: call it from Python, or give that parameter a default or a "
                "simple type"
            )
            raise RuntimeError(message)
        is_json = isinstance(annotation, _Json)
        annotation = str if is_json else annotation
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            # every item of *args is of that type; JSON cannot be one of many
            annotation, is_json = tuple[annotation, ...], False
        elif parameter.default is None or (is_json and parameter.default is not _EMPTY):
            annotation = Union[annotation, None]  # noqa: UP007 - a value, also on 3.10
        yield _Field(parameter=parameter, annotation=annotation, is_json=is_json)


def _annotation(run: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    """Resolve one annotation; one that fails must not take the others along."""
    if parameter.annotation is _EMPTY:
        default = parameter.default
        if isinstance(default, (bool, int, float, *_SEQUENCES)):
            return type(default)
        return str
    function = inspect.unwrap(run)
    while isinstance(function, functools.partial):
        function = inspect.unwrap(function.func)
    home = sys.modules.get(getattr(function, "__module__", None) or "")
    scope = getattr(function, "__globals__", None) or vars(home or types)

    def holder() -> None: ...

    holder.__annotations__ = {"value": parameter.annotation}
    # the second try knows what authors like to import under TYPE_CHECKING only
    for known in (scope, {**vars(typing), **_ABSTRACT, "Path": Path, **scope}):
        try:
            hints = typing.get_type_hints(holder, globalns=known, include_extras=True)
        except (NameError, AttributeError, TypeError, SyntaxError):
            continue
        return hints["value"]
    return str if parameter.default is _EMPTY else _Unknown


def _expressible(annotation: Any) -> Any:
    """Turn a type into one that tyro reads, ``_Json()``, or ``None`` for neither."""
    known = {Any: str, object: str, None: type(None), type(None): type(None)}
    if isinstance(annotation, collections.abc.Hashable) and annotation in known:
        return known[annotation]
    origin = typing.get_origin(annotation) or annotation
    if origin in _UNIONS:
        return _expressible_union(typing.get_args(annotation))
    if origin is Annotated:
        inner = typing.get_args(annotation)[0]
        plain = _expressible(inner)
        return annotation if plain == inner else plain
    if origin is Literal:
        return annotation
    # NewType and `type X = …` stand for another type
    meant = getattr(origin, "__supertype__", None) or getattr(origin, "__value__", None)
    if meant is not None:
        return _expressible(meant)
    return _expressible_class(origin, typing.get_args(annotation))


def _expressible_union(members: Sequence[Any]) -> Any:
    found = [_expressible(member) for member in members]
    simple = [
        item for item in found if item is not None and not isinstance(item, _Json)
    ]
    if any(isinstance(item, _Json) for item in found) and str not in simple:
        return _Json()
    if all(item is type(None) for item in simple):
        return None
    return Union[tuple(simple)]  # noqa: UP007 - built from a list


def _expressible_class(origin: Any, inner: Sequence[Any]) -> Any:
    if not inspect.isclass(origin):
        return None
    if origin is os.PathLike:
        return Path
    if origin in _MAPPINGS:
        return _Json()
    if origin in _SEQUENCES or origin.__module__ == "collections.abc":
        return _expressible_sequence(origin, inner)
    if issubclass(origin, _SCALARS) or _is_structure(origin):
        return origin
    return None


def _expressible_sequence(origin: type, inner: Sequence[Any]) -> Any:
    if not issubclass(list, origin) and origin not in _SEQUENCES:
        return None  # a Callable, an AsyncIterator
    items = [_expressible(item) for item in inner if item is not ...]
    if any(item is None for item in items):
        return None
    if any(isinstance(item, _Json) for item in items):
        return _Json()
    if origin is tuple and inner:
        return tuple[tuple(items) if ... not in inner else (*items, ...)]
    kind: Any = origin if origin in _SEQUENCES else list
    item = items[0] if items else str
    return tuple[item, ...] if kind is tuple else kind[item]


def _is_structure(origin: type) -> bool:
    """Whether tyro spreads its fields over options: ``--config.depth``."""
    return (
        dataclasses.is_dataclass(origin)
        or typing.is_typeddict(origin)
        or hasattr(origin, "__attrs_attrs__")
        or hasattr(origin, "model_fields")
    )


def _positionals(fields: Sequence[_Field], argv: Sequence[str]) -> frozenset[str]:
    """Choose what stands without a flag: the front, as far as it is required."""
    chosen: list[str] = []
    for field in fields:
        origin = typing.get_origin(field.annotation) or field.annotation
        is_front = field.is_required and field.parameter.kind in _ORDERED
        if not is_front and not field.is_variadic:
            if field.parameter.kind in _ORDERED:
                continue  # a parameter with a default; *args may still follow
            break
        if field.is_switch or _is_structure(origin) or _is_given(field, argv):
            continue
        chosen.append(field.name)
        if origin in _SEQUENCES:
            break  # it takes all that is left
    return frozenset(chosen)


def _options(argv: Sequence[str]) -> list[str]:
    end = argv.index("--") if "--" in argv else len(argv)
    return [
        token.split("=", 1)[0].replace("_", "-")
        for token in argv[:end]
        if token.startswith("--")
    ]


def _is_given(field: _Field, argv: Sequence[str]) -> bool:
    return f"--{field.flag}" in _options(argv)


def _with_switches(fields: Sequence[_Field], argv: Sequence[str]) -> list[str]:
    """Give a boolean without a default the pair of flags that the others have."""
    flags = {f"--{field.flag}": field for field in fields if field.is_switch}
    arguments: list[str] = []
    for index, token in enumerate(argv):
        if token == "--":  # noqa: S105 - the end of the options
            return [*arguments, *argv[index:]]
        plain = token.replace("_", "-")
        has_value = argv[index + 1 : index + 2] in (["True"], ["False"])
        if plain in flags and not has_value:
            arguments += [plain, "True"]
        elif plain.startswith("--no-") and f"--{plain[5:]}" in flags:
            arguments += [f"--{plain[5:]}", "False"]
        else:
            arguments.append(token)
    return arguments


def _receiver(
    run: Callable[..., Any],
    fields: Sequence[_Field],
    positionals: frozenset[str],
    *,
    program: str,
) -> Callable[..., dict[str, Any]]:
    """Build the function that tyro fills in: all keywords, with run's docstring."""

    def receive(**values: Any) -> dict[str, Any]:
        return values

    parameters = []
    for field in fields:
        default = () if field.is_variadic else field.parameter.default
        if field.is_json and default is not _EMPTY:
            default = None  # the real one comes back in _from_json
        parameters.append(
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=_marked(field, is_positional=field.name in positionals),
                default=default,
            )
        )
    receive.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    receive.__annotations__ = {item.name: item.annotation for item in parameters}
    receive.__doc__ = inspect.getdoc(run)
    receive.__name__ = receive.__qualname__ = program
    return receive


def _marked(field: _Field, *, is_positional: bool) -> Any:
    annotation = field.annotation
    origin = typing.get_origin(annotation) or annotation
    if is_positional:
        metavar = field.flag.upper()
        if origin in _SEQUENCES:
            metavar = f"[{metavar} ...]"
        mark = tyro.conf.arg(metavar=metavar)
        return Annotated[annotation, tyro.conf.Positional, mark]
    if field.is_json:
        return Annotated[annotation, tyro.conf.arg(name=field.flag, metavar="JSON")]
    if field.flag != field.name.replace("_", "-"):
        return Annotated[annotation, tyro.conf.arg(name=field.flag)]
    return annotation


def _from_json(text: str | None, field: _Field, *, program: str) -> Any:
    if text is None:
        return field.parameter.default
    try:
        return json.loads(text)
    except ValueError as error:
        sys.stderr.write(f"{program}: --{field.flag} takes JSON: {error}\n")
        raise SystemExit(2) from None


def _call(
    parameters: typing.Iterable[inspect.Parameter], values: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    arguments: list[Any] = []
    keywords: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.kind in _ORDERED:
            arguments.append(values.get(parameter.name, parameter.default))
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            arguments.extend(values.get(parameter.name, ()))
        elif parameter.name in values:
            keywords[parameter.name] = values[parameter.name]
    return arguments, keywords
