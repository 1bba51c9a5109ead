"""What is known of the providers in this process: keys, from the environment, and addresses, from the settings."""

from collections.abc import Mapping

from eukhe.actors.ports import Key
from eukhe.world.config import Settings
from eukhe.world.providers.trouble import KEY_VARIABLES


def keys_of(environment: Mapping[str, str], settings: Settings) -> tuple[Key, ...]:
    """A key for each provider of which one, or an address of the user's own, is known.

    Addresses come from the user's home, environment or command line, as the settings have them: no folder's file says
    where a key is sent.
    """
    found = (
        Key(provider, environment.get(variable, "").strip(), settings.text(f"{provider}.baseUrl") or "")
        for provider, variable in KEY_VARIABLES.items()
    )
    return tuple(key for key in found if key.value or key.base_url)
