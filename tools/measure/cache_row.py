"""A request as a provider's cache sees it: one row of blocks. Its tokens are counted by the fake API's rule."""

from collections.abc import Sequence

from eukhe.model.talk import Block, Image, Result, Speech, Talk, Text, Thought, Tool, Use
from eukhe.sim import prompt_cache
from eukhe.sim.prompt_cache import Kind, tokens_of


def row_of(talk: Talk) -> list[prompt_cache.Block]:
    """Tools, the system prompt, the blocks of all speeches."""
    system = talk.system.encode()
    return [
        *map(_tool, talk.tools),
        prompt_cache.Block(system, tokens_of(system), talk.marked),
        *(_block(speech, block) for speech in talk.speeches for block in speech.blocks),
    ]


def prefix_tokens(talk: Talk, row: Sequence[prompt_cache.Block]) -> int:
    """The tokens before the mark at the view's end: of tools, system prompt, and the view's whole blocks."""
    view = talk.speeches[0].blocks
    ends = next(at for at, block in enumerate(view) if isinstance(block, Text) and block.text.endswith("</chat>"))
    before = len(talk.tools) + 1
    marked = max((at for at in range(before, before + ends) if row[at].mark), default=before - 1)
    return sum(block.tokens for block in row[: marked + 1])


def _tool(tool: Tool) -> prompt_cache.Block:
    data = f"{tool.name}\0{tool.description}\0{tool.schema}".encode()
    return prompt_cache.Block(data, tokens_of(data))


def _block(speech: Speech, block: Block) -> prompt_cache.Block:
    mark, kind = False, "text"
    match block:
        case Text(text, mark):
            said = text
        case Use(id_, name, given):
            said, kind = f"{id_}\0{name}\0{given}", "use"
        case Result(of, content, failed, mark):
            texts = "\0".join(part.text for part in content if isinstance(part, Text))
            said, kind = f"{of}\0{failed}\0{texts}", "result"
        case Thought(provider, json):
            said, kind = f"{provider}\0{json}", "thought"
        case Image():
            raise AssertionError("no image is measured")
    data = f"{speech.role}\0{kind}\0{said}".encode()
    return prompt_cache.Block(data, tokens_of(said.encode()), mark, _KINDS[kind])


_KINDS: dict[str, Kind] = {"text": "text", "use": "use", "result": "result", "thought": "thought"}
