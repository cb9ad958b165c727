"""The strict check against the standard's public reference validator.

``skills-ref`` is installed from the index into an environment of its own, and asked
about the same folders. Where both disagree, the reason stands here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from prime_skills_ext import process
from prime_skills_ext.catalog.checking import Surroundings, Target, check_skill
from prime_skills_ext.environment.uv import find_uv
from tests.conftest import MakeSkill

pytestmark = [pytest.mark.integration, pytest.mark.network]

CORPUS = Path(__file__).parents[1] / "skills"

#: Folder to why we pass what the reference validator refuses.
WE_PASS = {
    "byte-order-mark": "the text has no rule about it; we warn",
    "windows": "a byte-order mark, too",
    "boolean-words": "fields of other hosts are none of the standard's; we note them",
    "dotted-key": "fields of other hosts",
    "version-number": "fields of other hosts; a flow map is valid YAML",
    "hint-list": "fields of other hosts; a flow list is valid YAML",
    "json-metadata": "a flow map is valid YAML; its reader takes a subset",
    "tools-list": "a flow list is valid YAML; we warn that the standard has text",
}

#: Folder to why we refuse what the reference validator passes.
WE_REFUSE = {
    "tag-characters": "text that only a model reads",
    "text-metadata": "the standard's metadata is a map",
}

Validate = Callable[[Path], bool]


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Validate:
    """``reference(folder)``: what the reference validator says."""
    home = tmp_path_factory.mktemp("skills-ref")
    uv = str(find_uv(os.environ))
    venv = home / "venv"
    for words in (
        ["venv", "--quiet", "--python", sys.executable, str(venv)],
        ["pip", "install", "--quiet", "--python", str(venv), "skills-ref==0.1.1"],
    ):
        process.run([uv, *words], cwd=home, timeout_s=120)
    program = venv / ("Scripts" if os.name == "nt" else "bin") / "agentskills"

    def validate(folder: Path) -> bool:
        argv = [str(program), "validate", str(folder)]
        done = process.run(argv, cwd=home, timeout_s=60, check=False)
        return done.returncode == 0

    return validate


def passes(folder: Path) -> bool:
    target = Target(path=folder / "SKILL.md", location="here")
    checked = check_skill(target, surroundings=Surroundings())
    return not any(item.severity == "error" for item in checked.findings)


def test_every_disagreement_about_the_corpus_has_a_reason(reference: Validate) -> None:
    """One folder per oddity: both say the same, or the reason is listed above."""
    folders = sorted(path.parent for path in CORPUS.glob("*/SKILL.md"))
    ours = {folder.name: passes(folder) for folder in folders}
    theirs = {folder.name: reference(folder) for folder in folders}
    assert sorted(WE_PASS) == sorted(x for x in ours if ours[x] and not theirs[x])
    assert sorted(WE_REFUSE) == sorted(x for x in ours if theirs[x] and not ours[x])


VALID = {
    "plain": "",
    "licensed": "license: Apache-2.0\n",
    "compatible": "compatibility: Needs git and a network.\n",
    "tooled": "allowed-tools: Read Bash(git:*)\n",
    "described": "metadata:\n  author: somebody\n  version: '1.0'\n",
    "several": "license: MIT\ncompatibility: x\nallowed-tools: a b\n",
    "x" * 64: "",
    "a1-b2-c3": "",
    "café": "",
}


@pytest.mark.parametrize("name", sorted(VALID))
def test_valid_skill_passes_both(
    tmp_path: Path, make_skill: MakeSkill, reference: Validate, name: str
) -> None:
    """What the standard allows, neither refuses."""
    header = f"name: {name}\ndescription: Does a thing.\n{VALID[name]}"
    folder = make_skill(tmp_path, name, frontmatter=header)
    assert (True, True) == (passes(folder), reference(folder))


INVALID = {
    "long-description": f"name: long-description\ndescription: {'x' * 1025}\n",
    "no-name": "description: D.\n",
    "no-description": "name: no-description\n",
    "blank": "name: blank\ndescription: ''\n",
    "upper": "name: Upper\ndescription: D.\n",
    "under_score": "name: under_score\ndescription: D.\n",
    "edge-": "name: edge-\ndescription: D.\n",
    "do--uble": "name: do--uble\ndescription: D.\n",
    "elsewhere": "name: other\ndescription: D.\n",
    "x" * 65: f"name: {'x' * 65}\ndescription: D.\n",
    "long-needs": f"name: long-needs\ndescription: D.\ncompatibility: {'x' * 501}\n",
    "colon": "name: colon\ndescription: Use when: asked\n",
    "twice": "name: twice\ndescription: D.\ndescription: E.\n",
}


@pytest.mark.parametrize("name", sorted(INVALID))
def test_invalid_skill_passes_neither(
    tmp_path: Path, make_skill: MakeSkill, reference: Validate, name: str
) -> None:
    """What the standard forbids, both refuse."""
    folder = make_skill(tmp_path, name, frontmatter=INVALID[name])
    assert (False, False) == (passes(folder), reference(folder))
