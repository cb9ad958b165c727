"""How much a model is told: the arithmetic, and what is counted."""

from __future__ import annotations

import pytest

from prime_skills_ext.errors import SettingsError
from prime_skills_ext.prompt.budget import PRESETS, Budget, Strategy, Unit, named_budget
from prime_skills_ext.prompt.measuring import meter


@pytest.mark.parametrize(
    ("context_tokens", "limit"),
    [
        (None, 8_000),
        (200_000, 8_000),
        (128_000, 5_120),
        (1_000_000, 40_000),
        (57_525, 2_301),
        (1, 1),
        (0, 1),
        (-5, 1),
    ],
)
def test_claude_has_one_percent_of_the_window(
    context_tokens: int | None, limit: int
) -> None:
    """In characters, four to a token; at least one."""
    budget = Budget(context_tokens=context_tokens)
    assert (limit, "characters") == (budget.limit, budget.counted_in)


def test_a_share_is_what_was_written() -> None:
    """A float is often a little less; 0.0157 must not lose a character by it."""
    assert 62_800 == Budget(context_tokens=1_000_000, share=0.0157).limit


@pytest.mark.parametrize(
    ("context_tokens", "limit", "unit"),
    [
        (None, 8_000, "characters"),
        (200_000, 4_000, "tokens"),
        (150, 3, "tokens"),
        (0, 1, "tokens"),
    ],
)
def test_codex_has_two_percent_of_the_window(
    context_tokens: int | None, limit: int, unit: Unit
) -> None:
    """In tokens; in characters while the window is unknown."""
    preset = PRESETS["codex"]
    budget = Budget(
        strategy=preset.strategy,
        share=preset.share,
        unit=preset.unit,
        context_tokens=context_tokens,
    )
    assert (limit, unit) == (budget.limit, budget.counted_in)


@pytest.mark.parametrize("strategy", ["claude", "codex"])
@pytest.mark.parametrize(("chars", "limit"), [(15_000, 15_000), (0, 0), (-7, 0)])
def test_a_number_of_characters_wins(
    strategy: Strategy, chars: int, limit: int
) -> None:
    """Over the window, the share, the unit and the tokenizer."""
    budget = Budget(
        strategy=strategy,
        chars=chars,
        context_tokens=200_000,
        share=0.5,
        unit="tokens",
        tokenizer=len,
    )
    assert (limit, "characters") == (budget.limit, budget.counted_in)


def test_none_has_no_limit() -> None:
    """Whatever the numbers say."""
    assert Budget(strategy="none", chars=5).limit is None


def test_a_tokenizer_makes_the_window_count_in_its_tokens() -> None:
    """One percent of the tokens, with nobody's rule of thumb in between."""
    budget = Budget(context_tokens=200_000, tokenizer=lambda text: len(text.split()))
    assert (2_000, "tokens") == (budget.limit, budget.counted_in)
    assert 3 == meter(budget).size("one two three")


def test_the_presets_are_those_in_use() -> None:
    """Names and numbers are public."""
    assert {
        "claude": ("claude", 0.01, 250, "characters"),
        "claude-1536": ("claude", 0.01, 1_536, "characters"),
        "codex": ("codex", 0.02, None, "tokens"),
        "none": ("none", 0.01, None, "characters"),
    } == {
        name: (it.strategy, it.share, it.entry_chars, it.unit)
        for name, it in PRESETS.items()
    }


def test_an_unknown_preset_is_an_error_that_names_the_others() -> None:
    """A budget is itself; a name is looked up."""
    assert named_budget("codex") is PRESETS["codex"]
    assert named_budget(PRESETS["none"]) is PRESETS["none"]
    with pytest.raises(SettingsError, match='no budget "cloud"') as caught:
        named_budget("cloud")
    assert caught.value.fix == "choose one of claude, claude-1536, codex, none"


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("技能", 2)]
)
def test_a_token_is_four_bytes_begun(text: str, tokens: int) -> None:
    """Where nobody counts them."""
    counts = meter(Budget(context_tokens=1_000, unit="tokens"))
    assert tokens == counts.size(text)


@pytest.mark.parametrize("room", range(-1, 12))
@pytest.mark.parametrize("tokenizer", [None, lambda text: len(text.split())])
@pytest.mark.parametrize("text", ["one two three. Four five six seven", "技能 " * 9])
def test_a_text_is_cut_to_the_tokens_that_it_may_have(
    room: int, tokenizer: object, text: str
) -> None:
    """Never over, and no word less than what fits."""
    counts = meter(Budget(context_tokens=9, unit="tokens", tokenizer=tokenizer))  # type: ignore[arg-type]  # any counter
    kept = counts.cut(text, room)
    assert counts.size(kept) <= max(0, room)
    assert text.startswith(kept.removesuffix("…").removesuffix(" "))
    if room >= 4:
        assert counts.size(kept) >= room // 2
