"""What a tool's processes get of the environment: no key, under whatever name it stands there."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from eukhe.model.secret_shapes import SHAPES, is_secret, own_secrets
from eukhe.world.environment import without_keys

# Named as if they held a key: who commits, where an agent of ssh or a screen's cookie file is.
_HARMLESS: Final = re.compile(r"GIT_AUTHOR_(?:NAME|EMAIL|DATE)|SSH_AUTH_SOCK|XAUTHORITY")


def of_tools(environment: Mapping[str, str], keys: Iterable[str] = ()) -> dict[str, str]:
    """The environment of what the agent runs. `keys`: values that it must not hold, besides those that it names so."""
    secret = {*own_secrets(environment).values(), *filter(is_secret, keys)}
    kept = without_keys(environment) | {n: value for n, value in environment.items() if _HARMLESS.fullmatch(n)}
    return {
        name: value
        for name, value in kept.items()
        if not SHAPES.search(value) and not any(known in value for known in secret)
    }
