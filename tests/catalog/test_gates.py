"""What keeps a skill from being offered, asked of a real world."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from prime_skills_ext.catalog import nearby
from prime_skills_ext.catalog.discovery import discover
from prime_skills_ext.catalog.facts import gather_facts
from prime_skills_ext.catalog.gates import Problem, gates
from prime_skills_ext.catalog.hosts import REFERENCE_HANDLERS, find_handlers
from prime_skills_ext.catalog.nearby import Nearby
from prime_skills_ext.catalog.places import Places
from prime_skills_ext.catalog.selection import select
from prime_skills_ext.skill.model import Diagnostic
from tests.catalog.conftest import MakeSource
from tests.conftest import MakeSkill

ASKS = "from rlm import host_request\n\nasync def run(): ...\n"
SERVER = "from rlm import McpIntegration\n\nclass I(McpIntegration): ...\n"

Ask = Callable[..., Problem | None]


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """A project, a user and their folders."""
    for name in ("project", "agent", "skills"):
        (tmp_path / name).mkdir()
    return Places(
        working_directory=tmp_path / "project",
        project_root=tmp_path / "project",
        agent_directory=tmp_path / "agent",
        home=tmp_path,
        builtin=tmp_path / "builtin",
    )


@pytest.fixture
def ask(
    places: Places, tmp_path: Path, make_skill: MakeSkill, make_source: MakeSource
) -> Ask:
    """``ask("name", header="requires: …")``: what keeps that one skill back."""

    def ask_about(
        name: str = "a",
        header: str = "",
        *,
        python: str | None = None,
        trusted: bool = True,
        handlers: frozenset[str] | None = None,
        **environ: str,
    ) -> Problem | None:
        frontmatter = f"name: {name}\ndescription: d\n{header}\n"
        make_skill(tmp_path / "skills", name, frontmatter=frontmatter, python=python)
        selection = select(
            discover([make_source(tmp_path / "skills")]), trusted=lambda _: trusted
        )
        facts, _ = gather_facts(
            selection, places=places, environ=environ, handlers=handlers
        )
        return next(iter(gates(selection, facts=facts).values()), None)

    return ask_about


def test_skill_that_needs_nothing_passes(ask: Ask) -> None:
    """The usual case."""
    assert ask() is None


def test_missing_program_is_named_with_the_way_out(ask: Ask) -> None:
    """By the name that the skill gives it."""
    problem = ask(header="requires: {bins: [no-such-program]}", PATH="/usr/bin:/bin")
    assert problem == Problem(
        state="needs-requirement",
        reason="it needs the program no-such-program",
        fix="install no-such-program, then run %reload_skills",
    )


def test_programs_are_looked_for_on_path(ask: Ask, tmp_path: Path) -> None:
    """The one that skills see, and only files that can be run."""
    program = tmp_path / "bin" / "tool"
    program.parent.mkdir()
    program.touch(mode=0o644)
    header = "requires: {bins: tool}"
    assert ask(header=header, PATH=str(program.parent)) is not None
    program.chmod(0o755)
    assert ask(header=header, PATH=str(program.parent)) is None
    assert ask(header=header, PATH="") is not None


def test_missing_variables_and_programs_are_one_sentence(ask: Ask) -> None:
    """Everything at once, so that nobody has to come back."""
    problem = ask(
        header="requires: {env: [A_URL, B_URL], bins: [no-such-x]}", A_URL=" "
    )
    assert problem is not None
    assert (
        "it needs the program no-such-x, the environment variable A_URL and the "
        "environment variable B_URL"
    ) == problem.reason
    assert "install no-such-x, set A_URL, set B_URL, then run %reload_skills" == (
        problem.fix
    )


def test_variable_that_is_set_is_enough(ask: Ask) -> None:
    """Its value is nobody's business."""
    assert ask(header="requires: {env: A_URL}", A_URL="x") is None


@pytest.mark.parametrize("name", ["nul\0byte", "../sub/tool", "~", "a b"])
def test_odd_names_of_programs_are_only_missing(ask: Ask, name: str) -> None:
    """Whatever stands in a header."""
    header = f"requires: {{bins: [{json.dumps(name)}]}}"
    problem = ask(header=header, PATH="/bin")
    assert problem is None or problem.state == "needs-requirement"


def test_key_that_is_kept_counts_as_its_variable(ask: Ask, places: Places) -> None:
    """Skills that name the variable twice need it once."""
    header = (
        "requires: {env: X_KEY}\nmetadata: {credential: {provider: x, variable: X_KEY}}"
    )
    problem = ask(header=header)
    assert problem is not None
    assert "needs-credential" == problem.state
    stored = {"x": {"type": "api_key", "key": "k-1"}}
    (places.agent_directory / "auth.json").write_text(json.dumps(stored))
    assert ask(header=header) is None


def test_paths_that_match_a_file_let_the_skill_pass(ask: Ask, places: Places) -> None:
    """From the project's root on."""
    header = "paths: 'src/**/*.tex, *.bib'"
    problem = ask(header=header)
    assert problem == Problem(
        state="needs-requirement",
        reason="it is for files that this project does not have: src/**/*.tex, *.bib",
        fix="use it in a project that has such files, or add one and run "
        "%reload_skills",
    )
    (places.project_root / "refs.bib").touch()
    assert ask(header=header) is None


def test_reason_names_a_few_patterns(ask: Ask) -> None:
    """A list of twenty is no sentence."""
    problem = ask(header="paths: [a, b, c, d, e]")
    assert problem is not None
    assert problem.reason.endswith(": a, b, c …")


def test_skill_is_not_kept_back_where_nobody_could_look(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project larger than the bound may have such files."""
    monkeypatch.setattr(
        nearby, "find_matching", lambda *_, **__: Nearby(complete=False)
    )
    assert ask(header="paths: '*.tex'") is None


def test_bound_of_the_walk_is_told(
    places: Places,
    tmp_path: Path,
    make_skill: MakeSkill,
    make_source: MakeSource,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As information: nothing is wrong."""
    monkeypatch.setattr(
        nearby, "find_matching", lambda *_, **__: Nearby(complete=False)
    )
    make_skill(
        tmp_path / "skills", "a", frontmatter="name: a\ndescription: d\npaths: x\n"
    )
    selection = select(
        discover([make_source(tmp_path / "skills")]), trusted=lambda _: True
    )
    _, notes = gather_facts(selection, places=places, environ={})
    assert [("paths-bound", "info")] == [(it.code, it.severity) for it in notes]
    assert isinstance(notes[0], Diagnostic)


HOST_SKILLS = [
    "agent-message",
    "agent-observe",
    "compact",
    "goal",
    "refine",
    "rlm-heartbeat",
]


@pytest.mark.parametrize("name", HOST_SKILLS)
def test_skills_of_the_reference_need_its_host(ask: Ask, name: str) -> None:
    """W56: by their own names, and only without their handlers."""
    problem = ask(name, python=ASKS)
    assert problem is not None
    assert "needs-host" == problem.state
    assert problem.reason.startswith("it needs an agent host")
    assert ask(name, python=ASKS, handlers=REFERENCE_HANDLERS) is None


@pytest.mark.parametrize("name", HOST_SKILLS)
def test_skills_of_that_name_that_ask_no_host_need_none(ask: Ask, name: str) -> None:
    """Instructions called ``compact``, or code that does it alone."""
    assert ask(name) is None
    assert ask(name, python="async def run(): ...\n") is None


def test_host_that_lacks_a_request_is_told_which(ask: Ask) -> None:
    """A host announces what it answers."""
    handlers = frozenset({"goal.get", "goal.create"})
    problem = ask("goal", python=ASKS, handlers=handlers)
    assert problem is not None
    assert "the agent host does not answer goal.complete" == problem.reason


@pytest.mark.parametrize("form", ["'model.info, rlm.run'", "[model.info, rlm.run]"])
def test_any_skill_may_declare_what_it_asks(ask: Ask, form: str) -> None:
    """Instructions too: they may tell a model to ask."""
    header = f"metadata: {{host: {{requests: {form}}}}}"
    problem = ask(header=header, handlers=frozenset({"model.info"}))
    assert problem is not None
    assert "the agent host does not answer rlm.run" == problem.reason
    assert ask(header=header, handlers=REFERENCE_HANDLERS) is None


@pytest.mark.parametrize(
    "value", ["github.com", "{}", "{requests: }", "{requests: ' , '}", "[a]"]
)
def test_other_metadata_called_host_is_no_need(ask: Ask, value: str) -> None:
    """The key is not ours alone."""
    assert ask(header=f"metadata: {{host: {value}}}") is None


def test_session_directory_means_the_references_host() -> None:
    """Blank counts as unset."""
    assert find_handlers({"RLM_SESSION_DIR": "/s"}) == REFERENCE_HANDLERS
    assert find_handlers({"RLM_SESSION_DIR": " "}) is None
    assert find_handlers({}) is None


@pytest.mark.parametrize("name", ["linear", "notion"])
def test_server_skills_need_a_login(ask: Ask, places: Places, name: str) -> None:
    """They declare nothing; their code tells."""
    problem = ask(name, python=SERVER)
    assert problem is not None
    assert "needs-credential" == problem.state
    assert f"it needs a key for {name}" == problem.reason
    assert ask(name, python="async def run(): ...\n") is None
    stored = {f"mcp:{name}": {"type": "oauth", "access": "t", "expires": 0}}
    (places.agent_directory / "auth.json").write_text(json.dumps(stored))
    assert ask(name, python=SERVER) is None


def test_trust_is_asked_first_and_nothing_else_is_looked_at(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's patterns do not make us walk."""
    monkeypatch.delattr(nearby, "find_matching")
    header = (
        "paths: '*.tex'\nrequires: {bins: no-such-x}\nmetadata: "
        "{credential: {provider: x, variable: X_KEY}, host: {requests: model.info}}"
    )
    problem = ask(header=header, trusted=False)
    assert problem is not None
    assert "untrusted" == problem.state


def test_order_of_the_gates(ask: Ask) -> None:
    """Key, host, requirements, files: one reason at a time."""
    header = (
        "requires: {bins: no-such-x}\npaths: '*.tex'\nmetadata: "
        "{credential: {provider: x, variable: X_KEY}, host: {requests: model.info}}"
    )
    found = [
        ask(header=header),
        ask(header=header, X_KEY="k"),
        ask(header=header, X_KEY="k", handlers=REFERENCE_HANDLERS),
    ]
    assert ["needs-credential", "needs-host", "needs-requirement"] == [
        problem and problem.state for problem in found
    ]
