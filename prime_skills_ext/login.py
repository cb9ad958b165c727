"""``%skill login`` and ``logout``: whose key, and what changes for which skill.

Keeps no key: it is asked for, handed to the store and forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prime_skills_ext.catalog.credential_store import CredentialStore, Secret
from prime_skills_ext.catalog.credentials import (
    CredentialNeed,
    needed_credential,
    spoken_name,
)
from prime_skills_ext.catalog.hosts import find_uses
from prime_skills_ext.catalog.status import SkillStatus, suggestion
from prime_skills_ext.errors import CredentialError
from prime_skills_ext.manager import SkillManager
from prime_skills_ext.views.report import Message

__all__ = ["login", "logout", "providers"]

_PLACES = {
    "auth.json": "auth.json of the agent directory",
    "keyring": "the system's keyring",
}


def providers(manager: SkillManager) -> tuple[str, ...]:
    """Name the providers that a skill asks for or that have a key."""
    needed = {need.name for need, _ in _needs(manager)}
    return tuple(sorted({*needed, *_stored(manager)}))


def login(
    manager: SkillManager, provider: str, *, ask: Callable[[str], Secret]
) -> Message:
    """Ask for a key, keep it and take up the skills that waited for it.

    Args:
        manager: Whose skills and agent directory.
        provider: A provider's name, or the name of a skill that needs its key.
        ask: Asks a person for it.

    Raises:
        CredentialError: No skill asks for such a key, nobody can be asked, what was
            entered is no key, or it cannot be stored.
    """
    need = _find(manager, provider)
    where = _store(manager).save(need.provider, ask(f"Key for {need.name}: "))
    manager.reload()
    text = f"the key for {need.name} is kept in {_PLACES[where]}"
    return _effect(manager, need, text=text)


def logout(manager: SkillManager, provider: str) -> Message:
    """Remove a key; the skills that need it wait again.

    Raises:
        CredentialError: There is none, or it cannot be removed.
    """
    need = _find(manager, provider)
    store = _store(manager)
    names = [item for item in store.providers() if spoken_name(item) == need.name]
    removed, left = store.remove(*names)
    if not removed:
        raise CredentialError(
            f"no key for {need.name} is stored", fix=_unset(manager, need)
        )
    manager.reload()
    message = _effect(manager, need, text=f"the key for {need.name} is removed")
    if left:
        return Message(
            text=f"{message.text}, but it may still be in the system's keyring",
            fix='remove "prime-skills" there with the system\'s own program',
        )
    return message


def _needs(manager: SkillManager) -> Iterable[tuple[CredentialNeed, SkillStatus]]:
    for status in manager.catalogue.skills:
        need = needed_credential(status.skill, uses=find_uses(status.skill))
        if need is not None:
            yield need, status


def _find(manager: SkillManager, provider: str) -> CredentialNeed:
    needs = list(_needs(manager))
    for need, status in needs:
        if provider in {need.name, need.provider, status.name}:
            return need
    if provider in _stored(manager):
        return CredentialNeed(provider=provider)
    known = {*(need.name for need, _ in needs), *_stored(manager)}
    # the word is not repeated: it may be a key that was typed in the wrong place
    raise CredentialError(
        "no skill here asks for a key of that provider",
        fix=suggestion(provider, known),
    )


def _stored(manager: SkillManager) -> set[str]:
    return {spoken_name(item) for item in _store(manager).providers()}


def _store(manager: SkillManager) -> CredentialStore:
    return CredentialStore(manager.places.agent_directory)


def _effect(manager: SkillManager, need: CredentialNeed, *, text: str) -> Message:
    """Say how the skills stand that need a key, after it came or went."""
    concerned = [
        status
        for other, status in _needs(manager)
        if other.name == need.name and status.state != "shadowed"
    ]
    states = [f"{status.name} is {status.state}" for status in concerned]
    fix = next((status.fix for status in concerned if status.fix), None)
    if need.variable and manager.environ.get(need.variable, "").strip():
        states.append(f"{need.variable} is set and is used instead")
    return Message(text="; ".join([text, *states]), fix=fix)


def _unset(manager: SkillManager, need: CredentialNeed) -> str:
    if need.variable and manager.environ.get(need.variable, "").strip():
        return f"the variable {need.variable} holds one: %env -u {need.variable}"
    return f"nothing to do; %skill login {need.name} stores one"
