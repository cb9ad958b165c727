"""Cells that begin with ``/skill:NAME``."""

from __future__ import annotations

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from prime_skills_ext.slash import as_magic


@pytest.mark.parametrize(
    ("cell", "name", "text"),
    [
        ("/skill:pdf", "pdf", "\n"),
        ("/skill:pdf merge a.pdf\n", "pdf", "merge a.pdf"),
        ("\n \n/skill:pdf a\n\n  b 'c' {x}\n", "pdf", "a\n\n  b 'c' {x}"),
        ("/skill:pdf\nwhat is this?", "pdf", "what is this?"),
        ("/skill:pdf what is this??", "pdf", "what is this??"),
        ("/skill:a@user x", "a@user", "x"),
        ("/skill:'My Skill' 'x' y", "My Skill", "'x' y"),
        ('/skill:"My Skill"\n"x"', "My Skill", '"x"'),
        ("/skill:'My Skill'x", "'My", "Skill'x"),
        ("In [3]: /skill:pdf x", "pdf", "x"),
        ("/skill:pdf '''\\ \"\"\" $x %y !z", "pdf", "'''\\ \"\"\" $x %y !z"),
    ],
)
def test_mx02_the_whole_cell_is_the_text_of_its_skill(
    cell: str, name: str, text: str
) -> None:
    """No expansion, no help at a question mark, whatever quotation marks it has."""
    manager = TransformerManager()
    manager.cleanup_transforms.append(as_magic)
    asked = f'use "{name}"' if "'" in name else f"use '{name}'"
    expected = f"get_ipython().run_cell_magic('skill', {asked!r}, {text!r})\n"
    assert expected == manager.transform_cell(cell)
    assert ("complete", None) == manager.check_complete(cell)


@pytest.mark.parametrize(
    "cell",
    [
        *("", "\n\n", "1 + 1\n", "x = 1\n/skill:pdf\n", "%%bash\n/skill:pdf\n"),
        *('"""\n/skill:pdf\n"""\n', "# first\n/skill:pdf\n", "/skills:pdf\n"),
    ],
)
def test_every_other_cell_stays_as_it_is(cell: str) -> None:
    """Only the first line that is not blank counts."""
    lines = cell.splitlines(keepends=True)
    assert lines == as_magic(list(lines))


@pytest.mark.parametrize("cell", ["/skill:", "/skill: pdf", "/skill:\npdf"])
def test_no_name_is_no_skill(cell: str) -> None:
    """The command says that it lacks one; the text is not taken for it."""
    (line,) = as_magic(cell.splitlines(keepends=True))
    assert line.startswith("get_ipython().run_cell_magic('skill', 'use', ")
