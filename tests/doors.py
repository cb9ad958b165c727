"""A fresh IPython shell and pictures of its state, for the tests of the doors."""

from __future__ import annotations

import asyncio
import copy
import copyreg
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

__all__ = ["fresh_shell", "picture"]


@contextmanager
def fresh_shell() -> Iterator[InteractiveShell]:
    """A shell without history that belongs to one test."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = InteractiveShell(config=config)
    # IPython registers these magics when they are first used; not our doing
    shell.find_line_magic("load_ext")
    try:
        yield shell
    finally:
        extensions = shell.extension_manager
        assert extensions is not None
        if "prime_skills_ext" in extensions.loaded:
            extensions.unload_extension("prime_skills_ext")
        shell.restore_sys_module_state()


def picture(shell: InteractiveShell) -> dict[str, Any]:
    """Everything that a load may change and an unload must restore."""
    formatters = shell.display_formatter.formatters  # type: ignore[union-attr]
    return {
        "names": {k: id(v) for k, v in shell.user_ns.items()},
        "hidden": sorted(shell.user_ns_hidden),
        "magics": {
            kind: sorted(names) for kind, names in shell.magics_manager.magics.items()
        },
        "registry": sorted(shell.magics_manager.registry),
        "hooks": {
            name: sorted(dispatcher.strs)
            for name, dispatcher in shell.strdispatchers.items()
        },
        "matchers": len(shell.Completer.custom_matchers),
        "transforms": [
            len(shell.input_transformers_cleanup),
            len(shell.input_transformers_post),
        ],
        "events": {
            name: len(callbacks) for name, callbacks in shell.events.callbacks.items()
        },
        "formatters": {
            mime: [len(f.type_printers), len(f.deferred_printers)]
            for mime, f in formatters.items()
        },
        "configurables": len(shell.configurables),
        "host": _heard(getattr(shell, "kernel", None)),
        "finders": [id(finder) for finder in sys.meta_path],
        "path": list(sys.path),
        "PATH": os.environ["PATH"],
        "inspector": sorted(shell.inspector.mime_hooks),
        "signals": _signals(),
        "patches": sorted(name for name in vars(asyncio) if "nest" in name),
        # other people's modules register there when they are first imported
        "dispatch": sorted(
            str(kind)
            for table in (copyreg.dispatch_table, copy._deepcopy_dispatch)  # type: ignore[attr-defined]
            for kind, function in table.items()
            if _is_ours(function)
        ),
        "classes": sorted(
            name for name, module in [*sys.modules.items()] if _is_ours(type(module))
        ),
    }


def _heard(kernel: Any) -> list[list[str]]:
    """What a kernel hears: comms by target, and messages on the control channel."""
    if kernel is None:
        return []
    return [sorted(kernel.comm_manager.targets), sorted(kernel.control_handlers)]


def _signals() -> tuple[object, ...]:
    descriptor = signal.set_wakeup_fd(-1)
    if descriptor != -1:
        signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)
    return descriptor, *(signal.getsignal(each) for each in signal.valid_signals())


def _is_ours(thing: object) -> bool:
    return str(getattr(thing, "__module__", "")).startswith("prime_skills_ext")
