"""What a frontend asks a kernel for: Tab, Shift-Tab, ``skill?``, HTML."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.conftest import write_skill
from tests.integration.drivers import Kernel

pytestmark = pytest.mark.integration

SIGNATURE = "word_count(text: str, top: int = 3) -> dict[str, int]"
WORD_COUNT = '''
    from collections import Counter

    async def run(text: str, top: int = 3) -> dict[str, int]:
        """Count the most frequent words."""
        return dict(Counter(text.split()).most_common(top))
'''


@pytest.fixture
def loaded(home: Path, any_kernel: Kernel) -> Kernel:
    """A kernel with one good and one broken skill of the user's."""
    root = home / ".agents" / "skills"
    write_skill(root, "word-count", python=WORD_COUNT)
    write_skill(root, "broken", python="import sys\nsys.exit(3)\n")
    any_kernel.run("%load_ext prime_skills_ext")
    return any_kernel


def test_mx09_tab_offers_subcommands_names_and_arguments(loaded: Kernel) -> None:
    """Through the kernel's own complete_request."""
    wanted = {
        "%skill tr": "trust",
        "%skill show web": "websearch",
        "%skill wor": "word-count",
        "%skill trust --p": "--pin",
        "word_co": "word_count",
        "%skill timel": "timeline",
        "shown = %skill show wor": "word-count",
        "%reload_skills --n": "--now",
        "await word_count(te": "text=",
        "await skills['word-count'](te": "text=",
        "await skills.word_count('a', ": "top=",
        "await skills[\"word_count\"](\n    'a',\n    to": "top=",
        "skills['wor": "word-count",
        "skills.word_c": "word_count",
    }
    offered = {typed: loaded.complete(typed) for typed in wanted}
    assert {} == {
        typed: offered[typed]
        for typed, word in wanted.items()
        if word not in offered[typed]
    }


def test_mx09_tab_imports_no_skill(project: Path, home: Path) -> None:
    """A skill that the user has not trusted is completed without running it."""
    marker = project / "ran"
    write_skill(
        project / ".agents" / "skills", "sly", python=f"open({str(marker)!r}, 'w')"
    )
    with Kernel(project) as kernel:
        kernel.run("%load_ext prime_skills_ext")
        assert "sly" in kernel.complete("%skill show s")
        kernel.complete("sly.")
        kernel.inspect("sly")
        assert not marker.exists()


def test_kb04_shift_tab_and_question_mark_show_run(loaded: Kernel) -> None:
    """Signature and docstring, not those of a wrapper."""
    pages = [
        page
        for code in ("word_count?", "?word_count", "word_count??", "skills.word_count?")
        for page in loaded.run(code).pages
    ]
    assert 4 == len(pages)
    for shown in (loaded.inspect("word_count("), *pages):
        assert SIGNATURE.partition("(")[2] in shown
        assert "Count the most frequent words." in shown
        noise = ("Call signature", "Class docstring", "Call docstring", "*args")
        assert [] == [word for word in noise if word in shown]
    assert SIGNATURE in loaded.inspect("word_count(")
    loaded.run("import functools; part = functools.partial(len)")
    assert "Call signature: part(*args, **kwargs)" in loaded.inspect("part")


def test_kb02_a_placeholder_is_looked_at_in_peace(loaded: Kernel) -> None:
    """``?`` and Shift-Tab say what is wrong; displaying it raises nothing."""
    (page,) = loaded.run("broken?").pages
    for shown in (loaded.inspect("broken"), page):
        assert "import-failed" in shown
        assert "SystemExit: 3" in shown
    displayed = loaded.run("broken")
    assert (None, "") == (displayed.error, displayed.stderr)
    assert "import-failed" in (displayed.result or "")
    assert [] != loaded.complete("brok")


def test_kb02_the_load_says_in_one_line_what_failed(project: Path, home: Path) -> None:
    """Nothing on stderr; the command that explains is named."""
    write_skill(home / ".agents" / "skills", "broken", python="1 / 0")
    with Kernel(project) as kernel:
        loaded = kernel.run("%load_ext prime_skills_ext")
        said = "Skills: 1 skill failed (broken). See %skill doctor\n"
        assert (said, "", None) == (loaded.stdout, loaded.stderr, loaded.error)


def test_table_is_text_and_well_formed_html(loaded: Kernel) -> None:
    """Both name every skill, its state and its fix."""
    (data,) = loaded.run("%skill").displays
    html = data["text/html"]
    ET.fromstring(html)
    for text in (html, data["text/plain"]):
        for word in (
            "word-count",
            "ready",
            "broken",
            "import-failed",
            "SystemExit: 3",
            "%reload_skills",
            "websearch",
            "needs-credential",
            "SERPER_API_KEY",
            "skill-creator",
            "instructions",
        ):
            assert word in text


def test_errors_of_magics_are_one_message_without_a_traceback(loaded: Kernel) -> None:
    """UsageError: what, and the way out."""
    said = loaded.run("%skill show edti")
    shown = said.stderr + said.stdout
    assert "UsageError" in shown + (said.error or "")
    assert 'did you mean "edit"' in shown + (said.error or "")
    assert "Traceback" not in shown


def test_as07_a_call_without_await_explains_itself(loaded: Kernel) -> None:
    """Nothing runs; the display says what is missing."""
    said = loaded.run("word_count('a')")
    assert "word_count(...) not started: put `await` before it" == said.result


def _write_failing(root: Path) -> None:
    """Skills whose errors name files in Python's, the system's and uv's words."""
    write_skill(root, "fails-python", python="from . import nothing")
    write_skill(root, "fails-system", python="open(__file__ + '.missing')")
    write_skill(root, "fails-syntax", python="def run(:")
    write_skill(
        root,
        "fails-uv",
        python="",
        backend="setuptools",
        files={"setup.py": "raise SystemExit('no way')\n"},
    )


@pytest.mark.network
def test_nb06_table_is_the_same_bytes_in_every_home(tmp_path: Path) -> None:
    """Places, hash seeds and the order of the disk do not show; text and HTML."""
    shown = []
    for number, names in enumerate((["a", "b", "odd"], ["odd", "b", "a"])):
        home = tmp_path / f"home-{number}" / ("deeper" * number)
        project = home / "work" / "here"
        (project / ".git").mkdir(parents=True)
        for name in names:
            write_skill(home / ".agents" / "skills", name, python="def run(): ...")
            write_skill(project / ".agents" / "skills", f"{name}-p", python="1 / 0")
        _write_failing(home / ".agents" / "skills")
        environ = {
            "HOME": str(home),
            "PYTHONHASHSEED": str(number),
            "IPYTHONDIR": str(home / ".ipython"),
        }
        with Kernel(project, environ=environ) as kernel:
            kernel.run("%load_ext prime_skills_ext")
            (data,) = kernel.run("%skill").displays
            shown.append((data["text/plain"], data["text/html"]))
    assert shown[0] == shown[1]
    assert str(tmp_path) not in repr(shown)
    assert sys.prefix not in repr(shown)


def test_rich_results_of_a_skill_display_as_any_other(
    home: Path, any_kernel: Kernel
) -> None:
    """A table and a picture: the kernel asks the value, not the skill."""
    code = '''
        class Frame:
            """As a DataFrame displays itself."""

            def __repr__(self):
                return "a frame"

            def _repr_html_(self):
                return "<table><tr><td>1</td></tr></table>"

        class Figure:
            """As a figure displays itself."""

            def _repr_png_(self):
                return b"\\x89PNG\\r\\n\\x1a\\n"

        def run(kind: str = "frame") -> object:
            return Figure() if kind == "figure" else Frame()
    '''
    write_skill(home / ".agents" / "skills", "report", python=code)
    any_kernel.run("%load_ext prime_skills_ext")
    (frame,) = any_kernel.run("await report()").displays
    assert "<table><tr><td>1</td></tr></table>" == frame["text/html"]
    assert "a frame" == frame["text/plain"]
    (figure,) = any_kernel.run("await report(kind='figure')").displays
    assert figure["image/png"].strip() == "iVBORw0KGgo="
    (shown,) = any_kernel.run("display(await report())").displays
    assert frame["text/html"] == shown["text/html"]


def test_timeline_and_page_of_a_skill_are_rich(loaded: Kernel) -> None:
    """A picture; instructions that are rendered, not shown as text."""
    (drawn,) = loaded.run("%skill timeline").displays
    page = ET.fromstring(drawn["text/html"])
    svg = "{http://www.w3.org/2000/svg}svg"
    assert 1 == len(list(page.iter(svg)))
    assert drawn["text/plain"].startswith("Load: ")
    (shown,) = loaded.run("%skill word-count").displays
    assert shown["text/markdown"].startswith("# word-count\n")
    assert "Do the thing." in shown["text/markdown"]
