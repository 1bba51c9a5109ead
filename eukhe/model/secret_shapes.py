"""What secrets look like: exact shapes, and the environment's own. Pure: no clock, disk or threads. D16.

Nothing vaguer: a text that only looks random may be a hash, an id or a picture, and hiding it would take it from the
memory. Each shape is one that its maker gave it so that it can be told, or says of itself what it is.
"""

import re
from collections.abc import Mapping
from typing import Final

from eukhe.limits import (
    SECRET_CHARS_MAX,
    SECRET_NUMBER_CHARS_MIN,
    SECRET_PEM_CHARS_MAX,
    SECRET_VALUE_CHARS_MIN,
    SECRET_WORDS_CHARS_MIN,
)

_KEYS: Final = {
    "anthropic_key": r"sk-ant-[\w-]{20,}",
    "openrouter_key": r"sk-or-v1-[0-9a-f]{64}",
    "openai_key": (
        r"sk-(?:(?:proj|svcacct|admin|None)-[\w-]{20,}"
        r"|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|(?=[A-Za-z]*\d)[A-Za-z0-9]{32,})"
    ),
    "github_token": r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{22,}",
    "gitlab_token": r"gl(?:pat|ptt|rt|rtr|dt|cbt|ft|imt|agent|oas|soat)-[\w.-]{20,}",
    "aws_key": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}",
    "google_key": r"AIza[\w-]{35}|ya29\.[\w-]{30,}|GOCSPX-[\w-]{28}",
    "slack_token": r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{20,}",
    "slack_webhook": r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/+-]{20,}",
    "stripe_key": r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{32,}",
    "npm_token": r"npm_[A-Za-z0-9]{36}",
    "pypi_token": r"pypi-AgE[\w-]{50,}",
    "huggingface_token": r"hf_[A-Za-z0-9]{34,}",
    "groq_key": r"gsk_[A-Za-z0-9]{52}",
    "xai_key": r"xai-[A-Za-z0-9]{80}",
    "sendgrid_key": r"SG\.[\w-]{22}\.[\w-]{43}",
    "digitalocean_token": r"do[opr]_v1_[0-9a-f]{64}",
    "docker_token": r"dckr_(?:pat|oat)_[\w-]{27,}",
    "telegram_token": r"\d{8,10}:AA[\w-]{33}",
    "vault_token": r"hv[sb]\.[\w-]{24,}",
    "age_key": r"AGE-SECRET-KEY-1[0-9A-Z]{58}",
}
"""Of a name that stands alone: no letter, digit or underscore before it or after it."""

_BREAK: Final = r"(?:\s|\\{1,4}[nrt])"  # in JSON a newline is a backslash and an n
_PEM_NAME: Final = r"(?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_PEM_BODY: Final = rf"(?:{_BREAK}|[A-Za-z0-9+/=:,.()]|-(?!----))"
_PEM: Final = (
    rf"-----BEGIN {_PEM_NAME}(?:{_PEM_BODY}{{40,{SECRET_PEM_CHARS_MAX}}}?-----END {_PEM_NAME}"
    rf"|(?:{_BREAK}{{1,8}}[A-Za-z0-9+/=]{{40,}})+)"  # one whose end was cut off
)
_QUOTE: Final = r"(?:\\{0,4}[\"'])?"
_HEADER: Final = (
    rf"(?i:authorization){_QUOTE}\s{{0,8}}[:=]\s{{0,8}}{_QUOTE}"
    r"(?:(?i:bearer|token)\s{1,8}(?P<bearer_token>(?=[A-Za-z._~+/=-]*\d)[\w.~+/=-]{16,})"
    r"|(?i:basic)\s{1,8}(?P<basic_login>[A-Za-z0-9+/]{12,}={0,2}))"
)
SHAPES: Final = re.compile(
    r"(?<!\w)(?:" + "|".join(f"(?P<{kind}>{shape})" for kind, shape in _KEYS.items()) + r")(?!\w)"
    rf"|(?P<private_key>{_PEM})|{_HEADER}",
    re.ASCII,
)
"""One of them: the name of its last group is its kind, and that group is what must be hidden."""

OPEN: Final = re.compile(
    rf"(?:(?i:authorization){_QUOTE}\s{{0,8}}(?:[:=]\s{{0,8}}{_QUOTE}(?:[A-Za-z]{{1,6}}(?:\s{{1,8}}[\w.~+/=-]*)?)?)?"
    rf"|-----BEGIN [A-Z0-9 ]{{0,60}}-{{0,4}}|-----BEGIN {_PEM_NAME}{_PEM_BODY}{{0,{SECRET_PEM_CHARS_MAX}}}"
    rf"(?:\\{{1,4}}|-{{1,5}}(?:E(?:N(?:D[A-Z0-9 ]{{0,60}}-{{0,4}})?)?)?)?"
    r"|\[s?e?c?r?e?t?(?: \w{0,64}(?: [0-9a-f]*)?)?)\Z",
    re.ASCII,
)
"""How a text ends that may go on to be one, other than in the middle of a word; or a mark of one."""

HINTS: Final = re.compile(
    r"sk-|gh[pousr]_|github_pat_|gl[a-z]{2,5}-|A[KSBC][IC]A[A-Z2-7]|AIza|ya29|GOCSPX|xox|xapp-|hooks\.slack|[sr]k_|whsec_"
    r"|npm_|pypi-|hf_|gsk_|xai-|SG\.|do[opr]_v1|dckr_|:AA|hv[sb]\.|AGE-SEC|-----BEGIN|(?i:authorization)"
)
"""What every one of them has in it: a text without any is not looked at any further."""

_NAME: Final = re.compile(
    r"(?:KEY|TOKEN|SECRET|PASS|PASSW(?:OR)?D|PASSPHRASE|CREDENTIAL|AUTH)S?(?:_|\d*$)", re.IGNORECASE
)
_NOT_SECRET: Final = re.compile(
    r"(?:~|\.{1,2})?/(?:[\w.@ -]{1,24}/?)*|[\w+]+://[^@]*"  # a path, an address
    rf"|(?=.{{0,{SECRET_WORDS_CHARS_MIN - 1}}}$)[A-Za-z]+(?:[-_. :][A-Za-z]+)*"  # words
    rf"|(?=.{{0,{SECRET_NUMBER_CHARS_MIN - 1}}}$)[\d.,:_ -]+",  # a number, a date
    re.DOTALL,
)


def own_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The secrets in an environment, by the names of their variables: values long enough, and no words or paths.

    >>> own_secrets({"DB_PASSWORD": "tr0ub4dor&3", "GIT_AUTHOR_NAME": "Ann Other", "DB_KEY_FILE": "/etc/db.key"})
    {'DB_PASSWORD': 'tr0ub4dor&3'}
    """
    named = ((name, value.strip()) for name, value in sorted(environment.items()) if _NAME.search(name))
    return {name: value for name, value in named if is_secret(value)}


def is_secret(value: str) -> bool:
    """Whether a value that is called a secret can be one, and not a word that stands in many texts."""
    return SECRET_VALUE_CHARS_MIN <= len(value) <= SECRET_CHARS_MAX and not _NOT_SECRET.fullmatch(value)
