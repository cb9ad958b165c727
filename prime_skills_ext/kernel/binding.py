"""Puts skills into a user namespace and takes exactly them out again.

It owns the names of one shell. It never decides which skill counts, installs
nothing and prints nothing.
"""

from __future__ import annotations

from collections.abc import (
    Collection,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from pathlib import Path
from typing import TYPE_CHECKING, final

from prime_skills_ext.catalog.status import Problem
from prime_skills_ext.kernel.announcing import announced
from prime_skills_ext.kernel.bindings import Bindings, Work
from prime_skills_ext.kernel.failures import import_failed
from prime_skills_ext.kernel.importing import Refusal, SkillFinder
from prime_skills_ext.kernel.loading import ImportOutcome
from prime_skills_ext.kernel.names import private_name
from prime_skills_ext.kernel.namespace import Namespace
from prime_skills_ext.kernel.placeholder import UnavailableSkill
from prime_skills_ext.kernel.placing import WAITS, Placement, place
from prime_skills_ext.kernel.skills import Skills
from prime_skills_ext.kernel.trees import SkillTree, park, stamp, tree_of
from prime_skills_ext.later import later
from prime_skills_ext.progress import Listener
from prime_skills_ext.skill.model import Diagnostic, Skill

if TYPE_CHECKING:
    from prime_skills_ext.kernel import deferring
    from prime_skills_ext.kernel import reload as reloading
    from prime_skills_ext.kernel.reload import ReloadMode
else:
    deferring = later("prime_skills_ext.kernel.deferring")
    reloading = later("prime_skills_ext.kernel.reload")

__all__ = ["Binder"]

_MAPPING = "skills"


@final
class Binder:
    """Binds skills in one namespace.

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
        self.skills = Skills()
        self._names = Namespace(user_ns, hidden=hidden)
        self._finder = SkillFinder.acquire(self)
        self._is_lazy = False
        self._placements: dict[Path, Placement] = {}
        self._gone: dict[str, Placement] = {}
        self._private: dict[str, SkillTree] = {}
        self._placeholders: dict[Path, UnavailableSkill] = {}
        self._left: dict[str, object] = {}

    def bind(
        self,
        skills: Sequence[Skill],
        *,
        problems: Mapping[Path, Problem] | None = None,
        refused: Mapping[str, Refusal] | None = None,
        modules: Mapping[str, Path] | None = None,
        values: Mapping[str, object] | None = None,
        ignored: Sequence[Path] = (),
        reload: bool = False,
        mode: ReloadMode = "again",
        lazy: bool = False,
        tell: Listener | None = None,
    ) -> Bindings:
        """Make the namespace agree with a selection; repeatable.

        Args:
            skills: The winners, in order; markdown ones are left to ``values``.
            problems: By identity: skills that must not be imported, and why.
            refused: Import names recorded elsewhere that must not be imported.
            modules: Ordinary top-level names served too: ``{"rlm": src}``.
            values: What else ``skills[...]`` answers for, keys as asked for:
                markdown skills by name, ``edit@builtin`` for shadowed ones. A
                value that is a ``Lazy`` is made when asked for.
            ignored: Directories that are not the kernel's own (the overlay's
                site-packages): what is found there does not make a name private.
            reload: Execute again what changed on disk.
            mode: ``"again"`` also tries once more what failed, ``"changed"`` does not
                before its files change, and ``"now"`` does not wait for calls in
                threads either.
            lazy: Import no skill now that nobody has used yet: each is imported at
                its first use.
            tell: Told each import that begins.
        """
        refused = refused or {}
        folders = [*ignored, *(r.src for r in refused.values() if r.src is not None)]
        problems = problems or {}
        self._park_others(skills, problems=problems)
        placements = place(
            skills, problems=problems, ignored=folders, served=modules or ()
        )
        removed = self._retire(placements)
        clashes = self._serve(placements, refused=refused, modules=modules or {})
        work = Work()
        self._is_lazy = lazy
        for placement in announced(placements, tell=None if lazy else tell):
            self._load(placement, work=work, mode=mode if reload else None)
        if reload:
            for tree in self._private.values():
                self._reload_private(tree, mode=mode, work=work)
        self._names.assign(_MAPPING, self.skills)
        for placement in placements:
            self._name(placement, work=work)
        self._name_gone()
        # a placeholder whose skill is reached otherwise now would never be told
        for name in {*self._names} - {_MAPPING, *work.names.values(), *self._gone}:
            self._names.release(name)
        self._answer(placements, work=work, values=values or {})
        self._left = self._picture()
        private = tuple(p.diagnostic() for p in placements if p.owner is not None)
        return work.finish(
            removed=removed, diagnostics=(*clashes, *private, *self._waits(work))
        )

    def reload_code(
        self, sources: Collection[Path], *, mode: ReloadMode, last: Bindings
    ) -> Bindings:
        """Reload the skills of some ``src``, all else being as ``last`` left it.

        Args:
            sources: Whose code may have changed; their modules are loaded.
            mode: As for ``bind``.
            last: What the last ``bind`` returned, or this.
        """
        work = Work.after(last)
        for placement in self._placements.values():
            if placement.package.src in sources and placement.problem is None:
                work.forget(placement.skill.identity)
                self._load(placement, work=work, mode=mode)
                self._name(placement, work=work)
        for tree in self._private.values():
            if tree.src in sources:
                self._reload_private(tree, mode=mode, work=work)
        self._left = self._picture()
        others = (it for it in last.diagnostics if it.code != WAITS)
        return work.finish(removed=(), diagnostics=(*others, *self._waits(work)))

    def is_undisturbed(self) -> bool:
        """Whether all is as the last ``bind`` left it: nobody took or gave a name."""
        return self._picture() == self._left

    def trees(self) -> list[SkillTree]:
        """The module trees that this namespace uses."""
        bound = (p.tree for p in self._placements.values() if p.problem is None)
        return [*bound, *self._private.values()]

    def _picture(self) -> dict[str, object]:
        """What a bind would look at in the kernel, by identity."""
        names = {p.package.import_name for p in self._placements.values()}
        pictures = {f"{t.name} {t.src}": t.picture() for t in self.trees()}
        return {**self._names.picture(names), **pictures}

    def load_private(self, skill: Skill) -> object:
        """Import a skill that is not the winner of its name, under a private one.

        Returns:
            The module, callable if it has a ``run``, or an ``UnavailableSkill``.
        """
        package = skill.python
        assert package is not None  # noqa: S101  # markdown skills have no module
        name = private_name(package.import_name, src=package.src)
        tree = tree_of(name, src=package.src)
        self._private[name] = tree
        tree.users.add(id(self))
        self._finder.add(self, name=name, src=package.src)
        outcome = tree.load(self._finder)
        if outcome is None or outcome.error is None:
            return tree.module
        return UnavailableSkill(
            skill.name,
            import_name=package.import_name,
            problem=import_failed(outcome.error, src=package.src),
            error=outcome.error,
        )

    def unbind(self) -> None:
        """Restore the namespace, ``sys.meta_path``, ``sys.modules`` and classes."""
        for name in self._names:
            self._names.release(name)
        for placement in self._placements.values():
            if placement.problem is None:
                park(placement.tree, user=self)
        for tree in self._private.values():
            park(tree, user=self)
        for state in (self._placements, self._gone, self._private, self._placeholders):
            state.clear()
        self.skills._replace({}, aliases={})  # filled by the binder alone
        SkillFinder.release(self)

    def _park_others(
        self, skills: Sequence[Skill], *, problems: Mapping[Path, Problem]
    ) -> None:
        """Take out of ``sys.modules`` what is no longer to be imported."""
        stays = {
            (skill.identity, skill.python)
            for skill in skills
            if skill.identity not in problems
        }
        for identity, old in self._placements.items():
            if old.problem is None and (identity, old.package) not in stays:
                park(old.tree, user=self)

    def _retire(self, placements: Sequence[Placement]) -> tuple[str, ...]:
        """Remember the new placements and name the skills that are gone."""
        now = {p.skill.identity: p for p in placements}
        gone = [old for key, old in self._placements.items() if key not in now]
        for old in gone:
            self._placeholders.pop(old.skill.identity, None)
            if old.owner is None:
                self._gone[old.module] = old
        self._placements = now
        for placement in placements:
            self._gone.pop(placement.module, None)
        return tuple(sorted(old.skill.name for old in gone))

    def _serve(
        self,
        placements: Iterable[Placement],
        *,
        refused: Mapping[str, Refusal],
        modules: Mapping[str, Path],
    ) -> tuple[Diagnostic, ...]:
        names = {p.module: p.package.src for p in placements if p.problem is None}
        names |= {name: tree.src for name, tree in self._private.items()}
        names |= {name: src for name, src in modules.items() if name not in names}
        refusals = {
            name: Refusal(problem=gone.gone(), src=gone.package.src)
            for name, gone in self._gone.items()
        }
        refusals |= refused
        for placement in placements:
            if placement.problem is not None and placement.owner is None:
                # what nobody trusts must not keep the user's own modules away
                untrusted = placement.problem.state == "untrusted"
                refusals[placement.module] = Refusal(
                    problem=placement.problem,
                    src=placement.package.src if untrusted else None,
                )
        return self._finder.serve(self, names=names, refused=refusals)

    def _load(
        self, placement: Placement, *, work: Work, mode: ReloadMode | None
    ) -> None:
        identity = placement.skill.identity
        if placement.problem is not None:
            work.values[identity] = self._placeholder(placement, placement.problem)
            return
        tree = placement.tree
        tree.users.add(id(self))
        if self._is_lazy and (kept := deferring.defer(tree, finder=self._finder)):
            work.values[identity] = kept
            return
        outcome = self._import(tree, identity=identity, work=work, mode=mode)
        if outcome is not None:
            work.note(identity, outcome)
        if tree.module is None:
            error = outcome.error if outcome is not None else None
            problem = placement.explain(error)
            work.problems[identity] = problem
            work.values[identity] = self._placeholder(placement, problem, error=error)
            return
        work.values[identity] = tree.module
        if tree.error is not None:
            work.problems[identity] = placement.stale(tree.error)
            work.errors[identity] = tree.error

    def _import(
        self, tree: SkillTree, *, identity: Path, work: Work, mode: ReloadMode | None
    ) -> ImportOutcome | None:
        known = self._finder.outcome(tree.name)
        if mode is not None and known is not None and tree.module is None:
            self._forget_failure(tree, mode=mode)
        fresh = tree.module is None and not tree.parked
        outcome = tree.load(self._finder)
        if fresh or tree.module is None or (mode is None and known is not None):
            return outcome
        again = reloading.reload_tree(tree, finder=self._finder, mode=mode or "again")
        if tree.calls:
            work.waiting[identity] = tree.calls
        if again is None:
            return outcome
        if again.error is None:
            work.changed.append(identity)
        return again

    def _forget_failure(self, tree: SkillTree, *, mode: ReloadMode) -> None:
        """Let an import that failed be tried again."""
        if mode != "changed" or stamp(tree.src, before=tree.stamps) != tree.stamps:
            self._finder.forget(tree.name)

    def _reload_private(self, tree: SkillTree, *, mode: ReloadMode, work: Work) -> None:
        if tree.module is None:
            self._forget_failure(tree, mode=mode)
            return
        reloading.reload_tree(tree, finder=self._finder, mode=mode)
        if tree.calls:
            work.waiting[tree.src] = tree.calls

    def _waits(self, work: Work) -> Iterator[Diagnostic]:
        for identity, placement in self._placements.items():
            if identity in work.waiting:
                yield placement.waits(work.waiting[identity])

    def _placeholder(
        self,
        placement: Placement,
        problem: Problem,
        *,
        error: BaseException | None = None,
    ) -> UnavailableSkill:
        identity = placement.skill.identity
        known = self._placeholders.get(identity)
        # the same one as long as it says the same: rebinding changes nothing then
        if known is None or known._problem != problem:  # noqa: SLF001
            known = self._placeholders[identity] = UnavailableSkill(
                placement.skill.name,
                import_name=placement.package.import_name,
                problem=problem,
            )
        known._error = error  # noqa: SLF001  # its public names raise
        return known

    def _name(self, placement: Placement, *, work: Work) -> None:
        skill, name = placement.skill, placement.package.import_name
        value = work.values[skill.identity]
        if (
            placement.owner is None
            and name != _MAPPING
            and self._names.assign(name, value)
        ):
            work.names[skill.identity] = name
            return
        way_out = f'skills["{skill.name}"]'
        work.names[skill.identity] = way_out
        healthy = placement.problem is None and skill.identity not in work.problems
        if placement.owner is None and healthy:
            work.problems[skill.identity] = Problem(
                state="name-taken",
                reason="`skills` is the mapping of all skills"
                if name == _MAPPING
                else f"`{name}` is a name of yours, so it was left alone",
                fix=f"Use {way_out}, or `del {name}` and run %reload_skills",
            )

    def _name_gone(self) -> None:
        for name, gone in self._gone.items():
            if self._names.holds(name):
                self._names.assign(name, self._placeholder(gone, gone.gone()))

    def _answer(
        self,
        placements: Iterable[Placement],
        *,
        work: Work,
        values: Mapping[str, object],
    ) -> None:
        answers = {p.skill.name: work.values[p.skill.identity] for p in placements}
        everything = {**values, **answers}
        aliases = {p.package.import_name: p.skill.name for p in placements}
        for name in everything:
            aliases.setdefault(name.replace("-", "_"), name)
        self.skills._replace(  # filled by the binder alone
            dict(sorted(everything.items())), aliases=aliases
        )
