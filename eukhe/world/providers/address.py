"""What a call needs to reach its provider: an address, a key, the model's name there."""

from typing import Final

from eukhe.actors.ports import Key, Outage
from eukhe.world.providers.registry import ANTHROPIC, OPENAI
from eukhe.world.providers.trouble import KEY_VARIABLES, Trouble, no_key
from eukhe.world.worker_wire import Order

ADDRESSES: Final = {ANTHROPIC: "https://api.anthropic.com", OPENAI: "https://api.openai.com/v1"}
NO_KEY: Final = "none"
"""Sent to a server of the user's own that wants none."""


def address_of(provider: str, key: Key | None) -> str:
    """Where the provider is, without a slash at the end. Anthropic's package adds `/v1` by itself."""
    address = (key.base_url if key is not None and key.base_url else ADDRESSES[provider]).rstrip("/")
    return address.removesuffix("/v1") if provider == ANTHROPIC else address


def key_of(provider: str, key: Key | None) -> str:
    """The key that is sent. Trouble where there is none, but for a server of the user's own, which may want none."""
    if key is None or not (key.value or key.base_url):
        raise Trouble(no_key(provider))
    if not (key.value.isascii() and key.value.isprintable()):
        raise Trouble(Outage(f"{KEY_VARIABLES[provider]} holds what is no key: see to it", key=True))
    return key.value or NO_KEY


def model_of(order: Order) -> str:
    """A model's name as its provider has it."""
    return order.request.model.partition("/")[2]
