"""The report of a reload, as a value."""

from __future__ import annotations

from prime_skills_ext.kernel.reload import ReloadReport


def test_re03_a_report_is_one_line_with_names() -> None:
    """Added, changed, removed and failed, in a fixed order."""
    report = ReloadReport.between(
        {"edit": 1, "gone": 1, "same": 1, "was-fine": 1, "still-broken": 1},
        {"edit": 1, "same": 1, "new": 1, "b": 1, "was-fine": 2, "still-broken": 1},
        changed=["edit"],
        failing=["was-fine", "still-broken"],
    )
    assert repr(report) == "+2 b, new ~1 edit -1 gone !1 was-fine"
    assert bool(report)


def test_re03_nothing_changed_is_an_empty_report() -> None:
    """So that the magic can return ``None``."""
    report = ReloadReport.between({"a": 1}, {"a": 1}, failing=["a"])
    assert not report
    assert repr(report) == ""
