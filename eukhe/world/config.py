"""The settings: settings.json in the home, the environment, flags.

A flag beats the environment beats the file for what a turn uses (`model`, `thinking`, the addresses of providers). The
memory's settings belong to the chat's owner and come from the file alone. No folder but the home is ever looked at.
In the file a key's dots are objects inside objects: `memory.model` is `{"memory": {"model": …}}`. Keys that nobody
knows are kept.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeGuard
from urllib.parse import urlsplit

import orjson

from eukhe.errors import SettingsError, StoreError
from eukhe.limits import (
    DAILY_USD_MAX,
    SETTINGS_BYTES_MAX,
    SETTLE_TIMEOUT_MS,
    SETTLE_TIMEOUT_MS_MAX,
    VIEW_BYTES_MAX,
    VIEW_BYTES_MIN,
    VIEW_CEILING_BYTES,
)
from eukhe.model.chat import ChatLimits
from eukhe.model.permission import FORMS, is_rule
from eukhe.model.prices import OWN_KEYS, Own, are_prices
from eukhe.world.disk import RealDisk
from eukhe.world.home import alone, make_home
from eukhe.world.providers.registry import LINE_MODELS, TURN_MODELS, answers_turns, writes_lines

FILE_NAME: Final = "settings.json"
THINKING_LEVELS: Final = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
YES: Final = ("true", "on", "yes")
NO: Final = ("false", "off", "no")

Value = str | int | float | bool | dict[str, Any] | list[str]


class Kind(NamedTuple):
    """What a setting may hold. `allowed` says it in words, `fits` decides, `parse` reads it from the command line.

    `parse` gives the text itself where it can't be read, so that `fits` refuses it.
    """

    allowed: str
    fits: Callable[[object], bool]
    parse: Callable[[str], Value] = str


class Setting(NamedTuple):
    """A key, its kind, its value where nothing says otherwise, and the environment's name for it, if it has one."""

    key: str
    kind: Kind
    default: Value | None
    about: str
    variable: str | None = None


class Found(NamedTuple):
    """A setting's value, None where it is not set, and its source: `default`, `file`, `environment X`, `flag --X`."""

    value: Value | None
    source: str


def _number(text: str) -> Value:
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number


def _boolean(text: str) -> Value:
    return text in YES if text in YES + NO else text


def _json(text: str) -> Value:
    try:
        value: Value = json.loads(text)
    except ValueError:
        return text
    return value


def _rules(text: str) -> Value:
    """A list as JSON has it, or one rule."""
    return _json(text) if text.startswith("[") else [text]


def _plain(value: object) -> TypeGuard[str]:
    """A text that can be stored and shown."""
    return isinstance(value, str) and value.isprintable()


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018, a wrong one is an error here
    except ValueError:
        return False
    named = parts.username is not None or parts.query or parts.fragment or " " in text
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not named


def _whole(low: int, high: int) -> Kind:
    return Kind(f"a whole number from {low} to {high}", lambda v: type(v) is int and low <= v <= high, _number)


def _one_of(*words: str) -> Kind:
    return Kind(f"one of {', '.join(words)}", lambda v: v in words)


_TURN_MODEL = Kind(TURN_MODELS, answers_turns)
_LINE_MODEL = Kind(LINE_MODELS, writes_lines)
_ADDRESS = Kind("an address as http://localhost:8080/v1, no user in it", lambda v: _plain(v) and _is_address(v))
_LEVEL = _one_of(*THINKING_LEVELS)
_SWITCH = Kind("true or false", lambda v: isinstance(v, bool), _boolean)
_DOLLARS = Kind(
    f"dollars, 0 to {DAILY_USD_MAX}",
    lambda v: isinstance(v, int | float) and not isinstance(v, bool) and 0 <= v <= DAILY_USD_MAX,
    _number,
)
_PRICES = Kind(
    f'dollars a million tokens by model, as {{"openai/NAME": {{"input": 1, "output": 2}}}}; keys {", ".join(OWN_KEYS)}',
    are_prices,
    _json,
)
_RULES = Kind(f"a list of rules: {FORMS}", lambda v: isinstance(v, list) and all(map(is_rule, v)), _rules)
_FOLDER = Kind("the absolute path of a folder", lambda v: _plain(v) and Path(v).is_absolute())

SETTINGS: Final = {
    setting.key: setting
    for setting in (
        Setting("model", _TURN_MODEL, None, "the model of a turn", "EUKHE_MODEL"),
        Setting("thinking", _LEVEL, None, "a turn's thinking effort", "EUKHE_THINKING"),
        Setting(
            "anthropic.baseUrl",
            _ADDRESS,
            None,
            "where Anthropic's form is spoken; the key is sent there",
            "EUKHE_ANTHROPIC_BASE_URL",
        ),
        Setting(
            "openai.baseUrl",
            _ADDRESS,
            None,
            "where OpenAI's form is spoken; the key is sent there",
            "EUKHE_OPENAI_BASE_URL",
        ),
        Setting("prices", _PRICES, None, "what models cost, where that is not known, or not so"),
        Setting("allow", _RULES, None, "what tools may do without being asked for, as `bash:make test`"),
        Setting("memory.model", _LINE_MODEL, None, "the model that writes the memory's lines"),
        Setting("memory.thinking", _LEVEL, "medium", "its thinking effort"),
        Setting(
            "memory.settleTimeoutMs",
            _whole(0, SETTLE_TIMEOUT_MS_MAX),
            SETTLE_TIMEOUT_MS,
            "how long a turn waits for lines that are being written, in ms",
        ),
        Setting(
            "memory.viewBytes",
            _whole(VIEW_BYTES_MIN, VIEW_BYTES_MAX),
            VIEW_CEILING_BYTES,
            "the view's ceiling in bytes; its floor is half, the compaction view a quarter and an eighth",
        ),
        Setting("memory.search", _SWITCH, True, "whether the agent has the tools search and at"),
        Setting("memory.dailyUsd", _DOLLARS, None, "what the memory's lines may cost a day"),
        Setting("memory.prompts", _FOLDER, None, "a folder whose files take the place of the prompts"),
    )
}


class Settings(NamedTuple):
    """What holds, key by key; and the keys of the file that no setting has, each with a word on what was meant."""

    found: Mapping[str, Found]
    unknown: tuple[str, ...] = ()

    def text(self, key: str) -> str | None:
        """The value of a setting of text; None where it is not set."""
        value = self.found[key].value
        assert value is None or isinstance(value, str), key
        return value

    def whole(self, key: str) -> int:
        """The value of a setting that is a whole number."""
        value = self.found[key].value
        assert type(value) is int, key
        return value

    def dollars(self, key: str) -> float | None:
        """The value of a setting that is money; None where it is not set."""
        value = self.found[key].value
        assert value is None or isinstance(value, int | float), key
        return value

    def prices(self) -> Own:
        """The user's own prices, by model."""
        value = self.found["prices"].value
        assert value is None or isinstance(value, dict)
        return value or {}

    @property
    def allow(self) -> tuple[str, ...]:
        """The rules of what tools may do."""
        value = self.found["allow"].value
        assert value is None or isinstance(value, list)
        return tuple(value or ())

    def chat_limits(self) -> ChatLimits:
        """The planner's limits: `memory.viewBytes` is the view's ceiling, the other three are parts of it."""
        ceiling = self.whole("memory.viewBytes")
        floor = ceiling // 2
        compaction_ceiling = floor // 2
        return ChatLimits(ceiling, floor, compaction_ceiling, compaction_ceiling // 2)


def load(home: Path, environment: Mapping[str, str], flags: Mapping[str, str]) -> Settings:
    """The settings that hold; `flags` are the command line's, by key. SettingsError for any that is wrong."""
    path = home / FILE_NAME
    in_file = dict(_flat(_read(path)))
    found = {}
    for key, setting in SETTINGS.items():
        found[key] = Found(setting.default, "default")
        if in_file.get(key) is not None:
            found[key] = Found(_checked(setting, in_file[key], str(path)), "file")
        if setting.variable and (text := environment.get(setting.variable)):
            found[key] = Found(_parsed(setting, text, setting.variable), f"environment {setting.variable}")
        if text := flags.get(key):
            found[key] = Found(_parsed(setting, text, f"--{key}"), f"flag --{key}")
    return Settings(found, tuple(key + _meant(key) for key in in_file if key not in SETTINGS))


def store(home: Path, key: str, text: str | None) -> Value | None:
    """Writes a value as given on the command line, or takes the key out for None. What now stands in the file.

    The home is made where there is none. SettingsError for a key or value that is wrong, HomeError.
    """
    setting = setting_of(key)
    value = None if text is None else _parsed(setting, text, "the command line")
    make_home(home)
    with alone(home):
        path = home / FILE_NAME
        tree = _read(path)
        _place(tree, key.split("."), value, path)
        data = orjson.dumps(tree, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        # A link to a file that is kept elsewhere stays one.
        file = path.resolve()
        try:
            RealDisk(file.parent).replace(file.name, data, sync=True)
        except StoreError as error:
            raise SettingsError(f"{path}: {error.reason}; nothing was changed") from error
    return value


def setting_of(key: str) -> Setting:
    """The setting of a key. SettingsError, with a hint, where there is none."""
    if key not in SETTINGS:
        raise SettingsError(f"no setting {key}{_meant(key)}; `eukhe config list` has them all")
    return SETTINGS[key]


def _parsed(setting: Setting, text: str, where: str) -> Value:
    return _checked(setting, setting.kind.parse(text), where)


def _checked(setting: Setting, value: Any, where: str) -> Value:
    if not setting.kind.fits(value):
        shown = json.dumps(value, ensure_ascii=False)
        raise SettingsError(f"{setting.key} is {shown} ({where}); allowed: {setting.kind.allowed}")
    good: Value = value
    return good


def _meant(key: str) -> str:
    if key.strip('"') in SETTINGS:
        return " (a dot stands for an object in an object)"
    near = get_close_matches(key, SETTINGS, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _read(path: Path) -> dict[str, Any]:
    """The file's object, an empty one where there is no file."""
    try:
        with path.open("rb") as file:
            data = file.read(SETTINGS_BYTES_MAX + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SettingsError(f"{path}: can't be read: {error.strerror}") from error
    try:
        tree = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise SettingsError(
            f"{path}:{error.lineno}:{error.colno}: no JSON: {error.msg}; mend it or move it away"
        ) from None
    if len(data) > SETTINGS_BYTES_MAX or not isinstance(tree, dict):
        raise SettingsError(f"{path}: no JSON object of settings; mend it or move it away")
    return tree


def _flat(tree: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Key and value of each leaf, as a setting's own object is one.

    A name with a dot in it is in quotes, so that it is no setting's key.
    """
    for name, value in tree.items():
        key = above + (f'"{name}"' if "." in name else name)
        if isinstance(value, dict) and (key not in SETTINGS or SETTINGS[key].kind is not _PRICES):
            yield from _flat(value, f"{key}.")
        else:
            yield key, value


def _place(tree: dict[str, Any], names: list[str], value: Value | None, path: Path) -> None:
    """Puts a value into nested objects, or takes it out for None, with the objects it leaves empty."""
    name, *below = names
    if not below:
        tree.pop(name, None)
        if value is not None:
            tree[name] = value
        return
    inner = tree.setdefault(name, {})
    if not isinstance(inner, dict):
        raise SettingsError(f"{path}: {name} is no object; mend it first")
    _place(inner, below, value, path)
    if not inner:
        del tree[name]
