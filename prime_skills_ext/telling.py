"""Telling a model: listings and instructions, as they are set here.

The half of ``SkillManager`` that changes nothing in the kernel. It hands settings and
the current snapshot to ``prompt``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from prime_skills_ext.agent_host import AgentHost
from prime_skills_ext.catalog.places import Places
from prime_skills_ext.counting import Counting
from prime_skills_ext.later import later
from prime_skills_ext.offering import offered_commands

if TYPE_CHECKING:
    from prime_skills_ext import activating
    from prime_skills_ext.configuration import Configuration as Settings
    from prime_skills_ext.kernel import callers
    from prime_skills_ext.prompt import budget as budgets
    from prime_skills_ext.prompt import offer
    from prime_skills_ext.prompt.activation import Activation, ShellPolicy
    from prime_skills_ext.prompt.budget import Budget
    from prime_skills_ext.prompt.listing import Listing
    from prime_skills_ext.skill.model import Caller
    from prime_skills_ext.snapshot import Snapshot
    from prime_skills_ext.views import budget as budget_view
    from prime_skills_ext.views.budget import BudgetReport
else:
    # the manager brings them: traits look through all of them once for each class
    Settings = object
    # a load tells a model nothing
    activating = later("prime_skills_ext.activating")
    budget_view = later("prime_skills_ext.views.budget")
    budgets = later("prime_skills_ext.prompt.budget")
    callers = later("prime_skills_ext.kernel.callers")
    offer = later("prime_skills_ext.prompt.offer")

__all__ = ["Telling"]


class Telling(Settings):
    """What is told to a model of the skills of one kernel."""

    places: Places
    environ: Mapping[str, str]
    host: AgentHost
    counting: Counting
    _binds: bool

    if TYPE_CHECKING:

        @property
        def snapshot(self) -> Snapshot:
            """What the last run of the stages found: the manager's."""

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
        return offer.render(
            self.snapshot.catalogue,
            budget=self._budget(chars=budget, context=context),
            tools=tools,
            caller=caller,
            commands=offered_commands(self.snapshot),
            uses=self.counting.at_first(),
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
        self.counting.add_activation(status.name)
        return found

    def _budget(self, *, chars: int | None, context: int | None) -> Budget:
        if chars is None and context is None:
            chars = self.listing_chars  # wins over the window that is set
        given: dict[str, Any] = {
            "chars": chars,
            "context_tokens": self.context_tokens if context is None else context,
            "share": self.listing_share,
            "entry_chars": self.listing_entry_chars,
            "tokenizer": self.tokenizer,
        }
        chosen = {name: value for name, value in given.items() if value is not None}
        return replace(budgets.PRESETS[self.listing], **chosen)
