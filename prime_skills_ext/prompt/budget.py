"""How much a model is told: what is counted, and up to where.

Pure arithmetic. Who gives way when it is too much is ``strategies``' business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, final

from prime_skills_ext.errors import SettingsError

__all__ = ["PRESETS", "Budget", "Strategy", "Unit", "named_budget"]

Strategy = Literal["claude", "codex", "none"]
Unit = Literal["characters", "tokens"]

#: What one token stands for where nobody counts them.
_CHARS_PER_TOKEN: Final = 4
#: Shares are exact to a millionth: floats would round some budgets down by one.
_MILLION: Final = 1_000_000


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """How much text a listing may have, and how it gets there.

    Counted are names and descriptions before escaping.

    Attributes:
        strategy: How descriptions give way: ``"claude"`` drops whole ones, the least
            used first; ``"codex"`` shortens all evenly; ``"none"`` has no limit.
        chars: The limit in characters. Wins over all that follows.
        context_tokens: Size of the model's context window in tokens; ``None`` when
            it is unknown.
        share: Part of the window that the listing may take: 0.01 is 1 %.
        fallback_chars: The limit in characters while the window is unknown.
        entry_chars: Longest description with its trigger text, in characters;
            ``None`` for no cap. It holds whatever the strategy.
        unit: What the share of a known window is counted in.
        tokenizer: Says how many tokens a text has; with it, the share of a known
            window is counted in tokens. ``None``: a token is four bytes.
    """

    strategy: Strategy = "claude"
    chars: int | None = None
    context_tokens: int | None = None
    share: float = 0.01
    fallback_chars: int = 8_000
    entry_chars: int | None = 250
    unit: Unit = "characters"
    tokenizer: Callable[[str], int] | None = None

    @property
    def counted_in(self) -> Unit:
        """What ``limit`` is counted in: tokens only where a window is known."""
        if self.chars is not None or self.context_tokens is None:
            return "characters"
        return self.unit if self.tokenizer is None else "tokens"

    @property
    def limit(self) -> int | None:
        """The most that may be counted, never negative; ``None`` without a limit."""
        if self.strategy == "none":
            return None
        if self.chars is not None:
            return max(0, self.chars)
        if self.context_tokens is None:
            return max(0, self.fallback_chars)
        per_token = _CHARS_PER_TOKEN if self.counted_in == "characters" else 1
        millionths = round(self.share * _MILLION)
        return max(1, self.context_tokens * per_token * millionths // _MILLION)


#: Budgets in use elsewhere, by name.
PRESETS: Final[Mapping[str, Budget]] = MappingProxyType(
    {
        "claude": Budget(),
        "claude-1536": Budget(entry_chars=1_536),
        "codex": Budget(strategy="codex", share=0.02, entry_chars=None, unit="tokens"),
        "none": Budget(strategy="none", entry_chars=None),
    }
)


def named_budget(budget: Budget | str) -> Budget:
    """Return the budget that a name stands for; a budget is itself.

    Raises:
        SettingsError: There is no preset of that name.
    """
    if isinstance(budget, Budget):
        return budget
    if budget not in PRESETS:
        raise SettingsError(
            f'There is no budget "{budget}"',
            fix=f"choose one of {', '.join(PRESETS)}",
        )
    return PRESETS[budget]
