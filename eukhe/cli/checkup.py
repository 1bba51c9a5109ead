"""What `eukhe doctor` looks at besides the logs, and what to do about it."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

from eukhe.actors.ports import Key
from eukhe.errors import OwnerGone, OwnerRefused
from eukhe.limits import BYTES_PER_MB, STATUS_WAIT_S
from eukhe.model.prices import cache_tokens_min, tokens_of
from eukhe.world.config import Settings
from eukhe.world.home import chat_path
from eukhe.world.link import Link
from eukhe.world.prompts import load_prompts
from eukhe.world.providers.choice import memory_model, turn_model
from eukhe.world.providers.reach import trouble_with
from eukhe.world.providers.registry import costs_money, provider_of
from eukhe.world.providers.trouble import KEY_VARIABLES

FREE_MB_MIN: Final = 100  # number: of a disk, less of which is bad
FREE_MB_ENOUGH: Final = 1_000  # number: less of which is said
OPEN_SHOWN: Final = 3  # number: of files that others can read


class Check(NamedTuple):
    """`what`: how it is; `todo`: what to do about it, empty where nothing is wrong."""

    name: str
    state: Literal["ok", "warn", "bad"]
    what: str
    todo: str = ""


def checks(home: Path, settings: Settings, keys: tuple[Key, ...], owner: int | None) -> Iterator[Check]:
    """`owner`: the process that owns the chat, if one does; 0 where nobody knows which."""
    yield _modes(home)
    yield _owner(home, owner)
    yield from _keys(settings, keys)
    yield from _providers(keys)
    yield from _cache(home, settings, keys)
    yield _disk(home)


def _modes(home: Path) -> Check:
    others = stat.S_IRWXG | stat.S_IRWXO
    if not home.exists():
        return Check("modes", "ok", f"{home} is not there yet; it will be yours alone")
    paths = [home, *home.glob("*"), *chat_path(home).rglob("*")]
    open_ = [path for path in paths if not path.is_symlink() and path.lstat().st_mode & others]
    if not open_:
        return Check("modes", "ok", f"{home} is yours alone")
    shown = ", ".join(str(path.relative_to(home)) for path in open_[:OPEN_SHOWN])
    more = f" and {len(open_) - OPEN_SHOWN} more" if len(open_) > OPEN_SHOWN else ""
    return Check("modes", "warn", f"others can get at {shown}{more}", f"chmod -R go= {home}")


def _owner(home: Path, owner: int | None) -> Check:
    if owner is None:
        return Check("owner", "ok", "no process owns the chat; the next command that needs one starts it")
    name = f"pid {owner}" if owner else "a process"
    try:
        with Link.connect(chat_path(home), STATUS_WAIT_S):
            return Check("owner", "ok", f"{name} owns the chat and answers")
    except TimeoutError:
        todo = "it may be stopped: kill -CONT it, or end it"
        return Check("owner", "bad", f"{name} owns the chat and does not answer", todo)
    except (OwnerGone, OwnerRefused) as error:
        return Check(
            "owner", "warn", f"{name} owns the chat and lets nobody in: {error}", "wait until it ends, or end it"
        )


def _keys(settings: Settings, keys: tuple[Key, ...]) -> Iterator[Check]:
    there = {key.provider for key in keys}
    for use, (model, _) in (("turns", turn_model(settings, keys)), ("lines", memory_model(settings, keys))):
        if not costs_money(model) or provider_of(model) in there:
            yield Check("key", "ok", f"{model} for {use}")
        else:
            variable = KEY_VARIABLES[provider_of(model)]
            yield Check("key", "warn", f"{model} for {use}, and no key for it", f"set {variable}, or another model")


def _providers(keys: tuple[Key, ...]) -> Iterator[Check]:
    for key in keys:
        if (trouble := trouble_with(key)) is None:
            yield Check("provider", "ok", f"{key.provider} answers")
        else:
            todo = f"see to {KEY_VARIABLES[key.provider]}, {key.provider}.baseUrl and the network"
            yield Check("provider", "bad", f"{key.provider}: {trouble}", todo)


def _cache(home: Path, settings: Settings, keys: tuple[Key, ...]) -> Iterator[Check]:
    """Whether what all calls begin with, and the smallest full view, are long enough for the provider's cache."""
    texts, limits = load_prompts(home, settings).texts, settings.chat_limits()
    tools = sum(len(f"{tool.name}{tool.description}{tool.schema}".encode()) for tool in texts.tools)
    common = len(texts.system.encode()) + tools
    for use, (model, _), view in (
        ("turns", turn_model(settings, keys), limits.floor),
        ("lines", memory_model(settings, keys), limits.compaction_floor),
    ):
        if not costs_money(model):
            continue
        tokens, least = tokens_of(common + view), cache_tokens_min(model)
        what = f"{use}: some {tokens} tokens begin each call, and {model} keeps {least} or more"
        if tokens >= least:
            yield Check("cache", "ok", what)
        else:
            yield Check(
                "cache", "warn", what, "raise memory.viewBytes, or take another model: every call is paid whole"
            )


def _disk(home: Path) -> Check:
    there = next(folder for folder in (home, *home.parents) if folder.exists())
    free_mb = shutil.disk_usage(os.path.realpath(there)).free // BYTES_PER_MB
    what = f"{free_mb} MB free"
    if free_mb < FREE_MB_MIN:
        return Check("disk", "bad", what, "make room: nothing is acknowledged that can't be written")
    return Check("disk", "ok" if free_mb >= FREE_MB_ENOUGH else "warn", what, "")
