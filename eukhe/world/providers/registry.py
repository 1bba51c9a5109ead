"""Which models there are, and what each can be used for."""

from typing import Final

MEMORY_MODEL_DEFAULT: Final = "builtin/extract"
MEMORY_MODELS: Final = (MEMORY_MODEL_DEFAULT,)
MEMORY_MODELS_ALLOWED: Final = f"{' or '.join(MEMORY_MODELS)}: this version has no other model that writes lines"
