"""Which models there are, and what each can be used for."""

import os
from typing import Final

BUILTIN: Final = "builtin"
SCRIPTED: Final = "scripted"
SCRIPT_VARIABLE: Final = "EUKHE_SCRIPTED"
"""Names the file by which scripted models behave; without it there are none."""

MEMORY_MODEL_DEFAULT: Final = "builtin/extract"
MEMORY_MODELS: Final = (MEMORY_MODEL_DEFAULT,)
MEMORY_MODELS_ALLOWED: Final = f"{' or '.join(MEMORY_MODELS)}: this version has no other model that writes lines"


def provider_of(model: str) -> str:
    """The part of a model's name that says who runs it."""
    return model.partition("/")[0]


def writes_lines(model: object) -> bool:
    """Whether the memory's lines can be written by it. A scripted model can where a script is named."""
    if isinstance(model, str) and provider_of(model) == SCRIPTED:
        return SCRIPT_VARIABLE in os.environ
    return model in MEMORY_MODELS
