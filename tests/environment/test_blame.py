"""What uv's words say about a batch that failed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from prime_skills_ext.environment.blame import (
    blamed,
    clash,
    did_not_run,
    excerpt,
    is_network,
    mentions,
    missing_backend,
    summary,
)

_CONFLICT = """\
error: No solution found when resolving dependencies
  cause: Because only sk-2==0.1.0 is available and sk-2==0.1.0 depends on idna<3, we can
         conclude that all versions of sk-2 depend on idna<3.
         And because sk-3==0.1.0 depends on idna>=3.4 and idna==2.10, we can conclude
         that all versions of sk-2 and all versions of sk-3 are incompatible.
"""
_CHAIN = """\
  cause: Because all versions of beta depend on acme>=1,<2 and c==1 depends on beta, we
         can conclude that c==1 depends on acme>=1,<2. And because all==2 depends on
         acme>=2.
"""
_NAME = "`Sk_7 @ file:///somewhere`"
_BUILD = """\
error: Failed to build `Sk_7 @ file:///somewhere`
  cause: The build backend returned an error
  cause: Call to `hatchling.build.build_editable` failed (exit status: 1)

         [stderr]
         Traceback (most recent call last):
         ValueError: sk-2==0.1 is fine
hint: `requests` (v0.14.2) was included because `sk-8` (v0.1.0) depends on `requests<1`
"""


_RELATIVE = """\
error: Failed to read `a @ file:///store/a-0.1.0-py3-none-any.whl`
  cause: Couldn't parse metadata of `a.whl` from `a @ file:///store/a.whl`
  cause: relative path without a directory: ../b
         b @ ../b
             ^^^^
"""
_BACKEND = """\
error: Failed to build `a @ file:///skills/a`
  cause: Failed to resolve requirements from `build-system.requires`
  cause: No solution found when resolving: `hatchling`
  cause: Because hatchling was not found and you require it, we can conclude that
         your requirements are unsatisfiable.
"""


def test_culprits_are_read_from_uvs_words() -> None:
    """Names of ours that uv blames, in the order in which it names them."""
    names = {"sk-2", "sk-3", "sk-7", "sk-8", "idna"}
    assert blamed(_CONFLICT, names=names) == ("sk-2", "sk-3")
    assert blamed(_BUILD, names=names) == ("sk-7", "sk-8")
    assert blamed("error: edit the word", names={"edit", "word"}) == ()


def test_a_contradiction_names_both_sides() -> None:
    """Uv's own sentence stops at the first of the two."""
    first, second = "sk-3 needs idna>=3.4", "sk-2 needs idna<3"
    assert (f"{first}, and {second}", "sk-2") == clash(_CONFLICT, name="sk-3")
    assert (f"{second}, and {first}", "sk-3") == clash(_CONFLICT, name="sk-2")
    assert clash(_CONFLICT, name="sk-4") is None
    chain = "c needs acme>=1,<2, and all needs acme>=2"
    assert (chain, "all") == clash(_CHAIN, name="c")
    assert clash(_BUILD, name="sk-8") is None


def test_pins_are_recognised_as_a_whole() -> None:
    """A settled version stands in the way only if it is the one that is named."""
    assert mentions(_CONFLICT, pins=["idna==2.10"])
    assert not mentions(_CONFLICT, pins=["idna==2.1", "dna==2.10", "x==1"])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", "uv gave no reason"),
        ("one\ntwo\n", "two"),
        (_CONFLICT, "only sk-2==0.1.0 is available and sk-2==0.1.0 depends on idna<3"),
        (_BUILD, "Failed to build `Sk_7`: The build backend returned an error"),
        ("error: disk full\n", "disk full"),
        (_RELATIVE, "Failed to read `a`: relative path without a directory: ../b"),
        (_BACKEND, "Failed to build `a`: hatchling was not found and you require it"),
    ],
)
def test_summary_is_one_sentence(words: str, expected: str) -> None:
    """What the table shows; the log keeps the rest."""
    assert summary(words) == expected


def test_want_of_a_network_is_told_from_other_failures() -> None:
    """Going online helps only where the network was missing."""
    assert is_network(
        "hint: Packages were unavailable because the network was disabled"
    )
    assert is_network("cause: Failed to fetch: https://host/simple/x/")
    assert is_network("cause: Network connectivity is disabled, but the requested data")
    assert not is_network(_CONFLICT)


def test_in05_backend_that_is_missing_is_named() -> None:
    """It is what is missing, not something that the skill itself requires."""
    words = """\
error: Failed to build `sk-1 @ file:///somewhere`
  cause: Failed to resolve requirements from `build-system.requires`
  cause: No solution found when resolving: `setuptools>=64`, `wheel`
  cause: Because setuptools was not found in the cache and you require setuptools>=64,
         we can conclude that your requirements are unsatisfiable.
"""
    assert "setuptools>=64, wheel" == missing_backend(words)
    assert missing_backend(_CONFLICT) is None


def test_a_uv_that_did_not_run_is_told_from_other_failures() -> None:
    """Neither a network nor a skill is to blame then."""
    assert did_not_run("error: /bin/uv did not end within 5 s")
    assert did_not_run("error: /bin/uv said nothing for 60 s")
    assert did_not_run("/bin/uv could not be started: no such file")
    assert not did_not_run(_CONFLICT)


@pytest.mark.parametrize(
    "noise",
    [
        "error: because acme is bad and user depends on acme\n",
        "x",
        "Failed to ",
        "because `a` (",
    ],
)
def test_in14_any_length_of_words_is_read_at_once(noise: str) -> None:
    """Compilers say a lot, some of it in one word; a read of that must not hang."""
    words = noise * (300_000 // len(noise)) + _CONFLICT
    script = (
        "import sys; from prime_skills_ext.environment.blame import *; "
        "words = sys.stdin.read(); "
        "print(blamed(words, names={'sk-2', 'sk-3'}), clash(words, name='sk-3')[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=words,
        capture_output=True,
        text=True,
        timeout=20,  # tells a hang from an answer: it takes a tenth of a second
        check=True,
    )
    said = "sk-3 needs idna>=3.4, and sk-2 needs idna<3"
    assert done.stdout == f"('sk-2', 'sk-3') {said}\n"


def test_in14_excerpt_is_the_end_of_what_uv_said_from_its_error_on() -> None:
    """No progress and no times: what is displayed reads the same each time."""
    assert excerpt(f"Resolved 3 packages in 5ms\n{_CONFLICT}") == _CONFLICT.rstrip()
    many = "\n".join(map(str, range(500)))
    assert excerpt(f"error: x\n{many}").splitlines() == many.splitlines()[-20:]
    assert "" == excerpt("")
