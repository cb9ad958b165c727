"""What is given with a skill, inside of its inline commands. Pure.

A value is never pasted into a command: nobody can quote for a shell so that it holds
in every place. Placeholders become variables of the shell, and the values reach it as
data, beside the command. Hence what holds for variables holds for placeholders: in
double quotes and outside of quotes they are filled in, each word staying one word,
and in single quotes they are not, which leaves the ``$1`` of awk alone. What a script
evaluates once more (``eval``, ``bash -c "…"``, arithmetic) is its author's affair.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal, NamedTuple, final

from prime_skills_ext.prompt.arguments import Place, Values, asked, placeholder

__all__ = ["ARGUMENTS", "Script", "ShellName", "prepare"]

ShellName = Literal["bash", "powershell"]
_Quotes = Literal["", "'", '"']

#: The variable that holds the arguments as they are written.
ARGUMENTS: Final = "ARGUMENTS"
_WORDS: Final = "PRIME_SKILLS_ARGUMENTS"
_COMMENT: Final = re.compile(r"[^\n]*")
#: The rest of a line behind which a document for a command stands.
_DOCUMENT: Final = re.compile(
    r"""(?<!<)<<(?P<tabs>-?)[ \t]*(?P<quote>['"\\]?)(?P<end>\w+)['"]?(?!\w)[^\n]*\n"""
)


@final
class Script(NamedTuple):
    """A command for a shell, and what belongs beside it.

    Attributes:
        text: What the shell reads; holds no value.
        words: What follows it on the command line.
        variables: What is added to the environment.
        used: Positions of the arguments' words that it can see.
        names_arguments: It has a placeholder, or a variable of ours, for arguments.
    """

    text: str
    words: tuple[str, ...]
    variables: Mapping[str, str]
    used: frozenset[int]
    names_arguments: bool


def prepare(command: str, *, values: Values, shell: ShellName) -> Script:
    """Turn the placeholders of an inline command into variables of its shell.

    Args:
        command: As the skill's author wrote it.
        values: What the placeholders stand for.
        shell: What runs it.
    """
    write = _in_bash if shell == "bash" else _in_powershell
    quotes = tuple(_quotes(command, escape="\\" if shell == "bash" else "`"))
    used: set[int] = set()

    def variable(match: re.Match[str]) -> str:
        around = quotes[match.start()]
        if match["escape"] and shell == "bash":
            return match.group()  # a backslash means the same to this shell
        if match["escape"]:
            return f"`{match.group()[1:]}" if around != "'" else match.group()[1:]
        if around == "'":
            return match.group()
        place = asked(match, values.arguments)
        used.update(place.words)
        return write(place, match.group(), around)

    pattern = placeholder(values.arguments.names)
    text = re.sub(pattern, variable, command)
    words = values.arguments.words
    is_named = bool(used) or ARGUMENTS in command
    variables = {ARGUMENTS: values.arguments.text, **values.variables}
    if shell == "bash":
        # its own positions are left empty: $0 of a nested script is not ours
        text = f'{_WORDS}=("$@"); set --; {text}'
        return Script(text, words, variables, frozenset(used), is_named)
    variables |= {f"{_WORDS}_{at}": word for at, word in enumerate(words)}
    return Script(text, (), variables, frozenset(used), is_named)


def _in_bash(place: Place, written: str, around: _Quotes) -> str:
    if place.is_missing:
        return f"\\{written}"
    if place.variable is not None:
        variable = f"${{{place.variable}}}"
    elif place.is_all:
        # outside of quotes all words, each as it is; in an assignment they are joined
        variable = "${ARGUMENTS}" if around else f"${{{_WORDS}[@]}}"
    elif place.words:
        variable = f"${{{_WORDS}[{place.words[0]}]}}"
    else:
        return ""
    return variable if around else f'"{variable}"'


def _in_powershell(place: Place, written: str, around: _Quotes) -> str:
    del around  # a variable is one argument, and is never read as code
    if place.is_missing:
        return f"`{written}"
    if place.variable is not None:
        return f"${{env:{place.variable}}}"
    if place.is_all:
        return "${env:ARGUMENTS}"
    if place.words:
        return f"${{env:{_WORDS}_{place.words[0]}}}"
    return ""


def _quotes(script: str, *, escape: str) -> Iterator[_Quotes]:
    """Yield for each character of a script which quotes it stands in.

    A guess at what is deeply nested; a wrong one leaves a placeholder unfilled, or
    its words apart, and never makes a value part of the script.
    """
    stack: list[str] = []
    documents = dict(_documents(script)) if escape == "\\" else {}
    at = 0
    while at < len(script):
        if at in documents:
            # quotes are nothing special there
            end, inside = documents[at]
            for _ in script[at:end]:
                yield inside
            at = end
            continue
        top = stack[-1] if stack else "("
        step = _STEPS[top](script, at, stack, escape)
        around: _Quotes = "'" if "'" in top else '"' if top == '"' else ""
        for _ in script[at : at + step]:
            yield around
        at += step


def _documents(script: str) -> Iterator[tuple[int, tuple[int, _Quotes]]]:
    """Yield where each here-document begins, and its end and what fills it in.

    As in double quotes, unless the word that ends it is quoted.
    """
    for match in _DOCUMENT.finditer(script):
        tabs = r"\t*" if match["tabs"] else ""
        end = re.compile(rf"^{tabs}{match['end']}$", re.MULTILINE)
        if last := end.search(script, match.end()):
            yield match.end(), (last.start(), "'" if match["quote"] else '"')


def _single(script: str, at: int, stack: list[str], escape: str) -> int:
    del escape
    if script[at] == "'":
        stack.pop()
    return 1


def _with_escapes(script: str, at: int, stack: list[str], escape: str) -> int:
    """Inside of ``$'…'``, where a quote may be escaped."""
    if script[at] == escape:
        return 2
    return _single(script, at, stack, escape)


def _double(script: str, at: int, stack: list[str], escape: str) -> int:
    if script[at] == escape:
        return 2
    if script.startswith("$(", at):
        stack.append("(")
        return 2
    if script[at] == '"':
        stack.pop()
    return 1


def _bare(script: str, at: int, stack: list[str], escape: str) -> int:
    character = script[at]
    if character == escape:
        return 2
    if character == "#" and (at == 0 or script[at - 1] in " \t\n;|&("):
        found = _COMMENT.match(script, at)
        return len(found.group()) if found else 1
    if escape == "\\" and script.startswith("$'", at):
        stack.append("$'")
        return 2
    if character in "'\"(":
        stack.append(character)
    elif character == ")" and stack:
        stack.pop()
    return 1


_STEPS: Final[Mapping[str, Callable[[str, int, list[str], str], int]]] = {
    "'": _single,
    "$'": _with_escapes,
    '"': _double,
    "(": _bare,
}
