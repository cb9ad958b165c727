"""Formatters: by type, and exactly removed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.formatters import DisplayFormatter
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from prime_skills_ext.views import formatters
from prime_skills_ext.views.report import Message


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """A shell of its own without a history file."""
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell(config=config)
    yield shell
    shell.history_manager = None


def _display(shell: InteractiveShell) -> DisplayFormatter:
    assert shell.display_formatter is not None
    return shell.display_formatter


def _entries(shell: InteractiveShell) -> dict[str, dict[Any, Any]]:
    return {
        mime: {**each.type_printers, **each.deferred_printers}
        for mime, each in _display(shell).formatters.items()
    }


def test_registered_values_display_as_text_and_html(shell: InteractiveShell) -> None:
    """A shell shows what the views say."""
    formatters.register(shell)
    data, _ = _display(shell).format(Message(text="Done.", fix="go on"))

    assert ["text/html", "text/plain"] == sorted(data)
    assert data["text/plain"] == "Done.\n  fix: go on"


def test_unregister_leaves_the_shell_as_it_was(shell: InteractiveShell) -> None:
    """No entry of ours stays, no entry of others goes."""
    before = _entries(shell)

    undo = formatters.register(shell)
    formatters.register(shell)
    assert before != _entries(shell)
    undo()

    assert before == _entries(shell)


def test_unregister_takes_back_what_was_displayed_meanwhile(
    shell: InteractiveShell,
) -> None:
    """IPython keeps the entry of a type elsewhere once a value of it was shown."""
    before = _entries(shell)
    undo = formatters.register(shell)
    _display(shell).format(Message(text="Done."))

    undo()

    assert before == _entries(shell)


def test_unregister_puts_back_what_somebody_had_set(shell: InteractiveShell) -> None:
    """A formatter for our type that was there before is there again."""
    html = _display(shell).formatters["text/html"]
    html.for_type(Message, str)

    formatters.register(shell)
    formatters.unregister(shell)

    assert str is html.type_printers[Message]


def test_unregister_leaves_what_somebody_set_since(shell: InteractiveShell) -> None:
    """A formatter that replaced ours is theirs."""
    html = _display(shell).formatters["text/html"]

    formatters.register(shell)
    html.for_type(Message, str)
    formatters.unregister(shell)

    assert str is html.type_printers[Message]
