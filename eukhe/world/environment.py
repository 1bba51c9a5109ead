"""What children get of this process's environment."""

import re
from collections.abc import Mapping
from typing import Final

_KEY: Final = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)


def without_keys(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without what may hold a key: keys live in memory, and travel only in what they are for."""
    return {name: value for name, value in environment.items() if not _KEY.search(name)}


def of_workers(environment: Mapping[str, str]) -> dict[str, str]:
    """What a worker gets of it: nothing by which a provider's package would choose an address, or headers, itself."""
    return {
        name: value
        for name, value in without_keys(environment).items()
        if not name.upper().startswith(("ANTHROPIC_", "OPENAI_"))
    }
