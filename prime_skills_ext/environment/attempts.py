"""What was tried in vain where no generation could remember it.

A failure of one skill is in the record. Where uv hangs, or what every environment
holds cannot be fetched, there is no record to write to: that attempt is remembered
beside the generations, so that the next load says so at once instead of waiting for
the same end. It may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from typing import Any

from prime_skills_ext.catalog.reading import read_file
from prime_skills_ext.environment.blame import (
    did_not_run,
    is_network,
    shortened,
    summary,
)
from prime_skills_ext.environment.facts import Facts, Request
from prime_skills_ext.environment.failure import NOT_RUN_FIX, RETRY_FIX, Failure
from prime_skills_ext.environment.record import MAX_LOG_CHARS, Record
from prime_skills_ext.environment.uv import Uv
from prime_skills_ext.environment.wanted import read_wanted
from prime_skills_ext.errors import PrimeSkillsError, ProcessError
from prime_skills_ext.writing import replace_text

__all__ = ["ATTEMPT", "MAX_AGE_S", "failure", "recall", "remember"]

ATTEMPT = "attempt.json"

MAX_AGE_S = 600.0
"""How long a failure is believed that may have passed by itself: that of a network,
and in own mode, where there is no kernel yet to ask for another try, any other."""

_SCHEMA = 1
_MAX_BYTES = 1 << 20


def recall(request: Request, *, world: Facts, uv: Uv) -> Failure | None:
    """Why the same was tried in vain, if it was and nothing changed since."""
    if request.retry:
        return None
    try:
        text = read_file(request.environment.root / ATTEMPT, limit=_MAX_BYTES)
        data = json.loads(text.decode("utf-8"))
        if not _is_recent(data) or data["request"] != _mark(
            request, world=world, uv=uv
        ):
            return None
        return Failure(**{name: str(data[name]) for name in ("reason", "fix", "log")})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def remember(request: Request, *, world: Facts, uv: Uv, failed: Failure | None) -> None:
    """Remember that an attempt failed as a whole, or forget what was remembered."""
    path = request.environment.root / ATTEMPT
    # a disk that does not take it costs the memory and nothing else
    with contextlib.suppress(OSError):
        if failed is None:
            path.unlink(missing_ok=True)
            return
        may_pass = request.environment.mode == "own" or is_network(failed.log)
        data = {
            "schema": _SCHEMA,
            "request": _mark(request, world=world, uv=uv),
            "time": time.time(),
            "maxAge": MAX_AGE_S if may_pass else None,
            "reason": failed.reason,
            "fix": failed.fix,
            "log": failed.log[-MAX_LOG_CHARS:],
        }
        replace_text(path, text=json.dumps(data, indent=1) + "\n")


def failure(error: PrimeSkillsError) -> Failure:
    """What an error that ended an attempt says to people."""
    log = "\n".join(getattr(error, "__notes__", ()))
    reason, fix = error.message, error.fix
    if isinstance(error, ProcessError):
        log, reason = error.message, shortened(error)
        if error.stderr_tail and not did_not_run(reason):
            reason = f"{reason}: {summary(error.stderr_tail)}"
        fix = f"{NOT_RUN_FIX}, then {RETRY_FIX}"
    return Failure(reason=reason, fix=fix, log=log)


def _is_recent(data: Any) -> bool:
    if data["schema"] != _SCHEMA:
        return False
    limit = data["maxAge"]
    # of a time to come (a clock that was set back) nobody knows how old it is
    return limit is None or 0 <= time.time() - float(data["time"]) < float(limit)


def _mark(request: Request, *, world: Facts, uv: Uv) -> str:
    """Digest of everything after whose change another attempt may end otherwise."""
    wanted = read_wanted(request.skills, record=Record(), extra=request.extra)
    parts = [
        request.environment.mode,
        str(request.environment.interpreter),
        world.base,
        world.kernel,
        uv.identity,
        *uv.settings,
        *sorted(f"{item.key}={item.fingerprint}" for item in wanted),
    ]
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()
