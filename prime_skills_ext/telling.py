"""Telling a model: listings, instructions and counted uses, as they are set here.

The half of ``SkillManager`` that changes nothing in the kernel. It hands settings and
the current snapshot to ``prompt``, and holds what has to stay the same for as long as a
kernel lives: the numbers that a listing goes by.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from traitlets import default

from prime_skills_ext.agent_host import AgentHost
from prime_skills_ext.catalog.places import Places
from prime_skills_ext.configuration import Configuration
from prime_skills_ext.later import later

if TYPE_CHECKING:
    from prime_skills_ext import activating, counting, listing_here
    from prime_skills_ext.kernel import callers
    from prime_skills_ext.prompt import offer, usage
    from prime_skills_ext.prompt.activation import Activation, Caller, ShellPolicy
    from prime_skills_ext.prompt.budget import Budget
    from prime_skills_ext.prompt.listing import Listing
    from prime_skills_ext.prompt.usage import Usage
    from prime_skills_ext.snapshot import Snapshot
    from prime_skills_ext.views import budget as budget_view
    from prime_skills_ext.views.budget import BudgetReport
else:
    # a load tells a model nothing
    activating = later("prime_skills_ext.activating")
    budget_view = later("prime_skills_ext.views.budget")
    callers = later("prime_skills_ext.kernel.callers")
    counting = later("prime_skills_ext.counting")
    listing_here = later("prime_skills_ext.listing_here")
    offer = later("prime_skills_ext.prompt.offer")
    usage = later("prime_skills_ext.prompt.usage")

__all__ = ["Telling"]

#: Uses are written at most that often, and at the end.
NOTE_INTERVAL_S: Final = 60.0
#: At the end of a kernel another one is waited for, but not for long.
_PATIENCE_S: Final = 1.0


class Telling(Configuration):
    """What is told to a model of the skills of one kernel."""

    places: Places
    environ: Mapping[str, str]
    host: AgentHost
    _binds: bool = False
    _snapshot: Snapshot | None = None

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._usage: Usage | None = None
        self._next_note = time.monotonic() + NOTE_INTERVAL_S

    @property
    def snapshot(self) -> Snapshot:
        """What the last run of the stages found."""
        raise NotImplementedError

    @default("listing_chars")
    def _chars_by_variable(self) -> int | None:
        variable = self.environ.get(listing_here.BUDGET_VARIABLE)
        return listing_here.read_variable(variable)

    @default("usage_counts")
    def _counts_by_variable(self) -> bool:
        return self.environ.get("PRIME_SKILLS_USAGE") != "0"

    def prompt(
        self,
        *,
        budget: int | None = None,
        context: int | None = None,
        caller: Caller = "model",
        tools: Collection[str] | None = None,
    ) -> Listing:
        """Return what a model is told of the skills.

        Args:
            budget: Characters of names and descriptions; ``None`` goes by the
                settings.
            context: Size of the model's context window in tokens; ``None`` goes by
                the settings.
            caller: For whom: what a model may call, or what a person may use.
            tools: Names of the model's tools: nothing is told where none reads files
                or runs code. ``None``: unknown, which counts as having one.
        """
        uses = self.usage.at_first() if self.usage_counts else {}
        return offer.render(
            self.snapshot.catalogue,
            budget=self._budget(chars=budget, context=context),
            tools=tools,
            caller=caller,
            commands=listing_here.commands_of(self.snapshot),
            uses={name: each.total for name, each in uses.items()},
            list_restricted=self.list_restricted,
        )

    def budget(
        self,
        *,
        budget: int | None = None,
        context: int | None = None,
        caller: Caller = "model",
    ) -> BudgetReport:
        """Return how much of the budget each skill takes, what is cut, and why.

        The arguments are those of ``prompt``.
        """
        return budget_view.BudgetReport.of(
            self.prompt(budget=budget, context=context, caller=caller),
            budget=self._budget(chars=budget, context=context),
            preset=self.listing,
        )

    def activate(self, name: str, arguments: str = "") -> Activation:
        """Return a skill's instructions, read now and ready for a model.

        Args:
            name: A skill's name or import name, or ``name@source``.
            arguments: What is given with it, as written.

        Raises:
            UnknownSkillError: There is none of that name.
            SkillPermissionError: It is not meant for who asks: a model's cell, or a
                person's.
            HostError: It needs an agent host.
            PrimeSkillsError: It does not work here, or a command of its
                instructions failed.
        """
        status = activating.as_trusted_now(
            self.snapshot.catalogue.get(name), distrust=self.snapshot.distrust
        )

        def fork(activation: Activation) -> str:
            limit = self.fork_timeout_s
            return self.host.fork(activation.text, skill=status.skill, timeout_s=limit)

        terms = activating.Terms(
            project=self.places.project_root,
            environ=self.environ,
            shell_policy=cast("ShellPolicy", self.inline_shell),
            shell_timeout_s=self.inline_shell_timeout_s,
            # without a host the skill is refused before a command of it runs
            fork=None if self.host.handlers() is None else fork,
            are_hooks_on=lambda: self.hooks,
        )
        # a command in a terminal has no cell, and no model behind it
        who: Caller = callers.caller() if self._binds else "user"
        found = activating.use(status, arguments, caller=who, terms=terms)
        if self.usage_counts:
            self.usage.add(status.name, activations=1)
        return found

    @property
    def usage(self) -> Usage:
        """How often each skill was used on this machine."""
        if self._usage is None:
            path = usage.usage_file(self.places.agent_directory)
            self._usage = usage.Usage(path)
        return self._usage

    def take_note(self) -> None:
        """Count the calls since the last time; nothing is written."""
        if self._snapshot is None:
            return
        calls = counting.take(self._snapshot)
        if self.usage_counts:
            for name, count in calls.items():
                self.usage.add(name, calls=count)

    def write_uses(self, *, wait_s: float = 0.0) -> None:
        """Write down what was counted, if anything was.

        Args:
            wait_s: Longest to wait for another kernel that does so, in seconds.
        """
        self.take_note()
        if self._usage is not None and self.usage_counts:
            self._usage.write(wait_s=wait_s)

    def after_cell(self) -> None:
        """Write down what was counted, once in a while."""
        now = time.monotonic()
        if now >= self._next_note:
            self._next_note = now + NOTE_INTERVAL_S
            self.write_uses()

    def _begin_counting(self) -> None:
        # the same object again, so that it can be taken back
        self._last_note = partial(self.write_uses, wait_s=_PATIENCE_S)
        atexit.register(self._last_note)

    def _end_counting(self) -> None:
        self._last_note()
        atexit.unregister(self._last_note)

    def _budget(self, *, chars: int | None, context: int | None) -> Budget:
        # an absolute number wins over the window; a window that is asked for over it
        is_asked = chars is None and context is not None
        return listing_here.choose_budget(
            self.listing,
            chars=None
            if is_asked
            else (self.listing_chars if chars is None else chars),
            context_tokens=self.context_tokens if context is None else context,
            share=self.listing_share,
            entry_chars=self.listing_entry_chars,
            tokenizer=self.tokenizer,
        )
