"""A chat as another program writes it, to the letter of the format and no further.

Messages, nodes, view.json. No keys, no batch lines, no format.json; replies are of kind `talk`, and nodes say so.
"""

import json

from eukhe.actors.ports import Disk
from eukhe.model.part import Part

MESSAGES = 21
LONG = "A plan of many parts. " * 40
VIEW = [(3, 0), (2, 2), (1, 6), (0, 14), (0, 15), (0, 16), (0, 17), (0, 18), (0, 19), (0, 20)]
KINDS = ("user", "talk", "tool", "echo", "work", "note")


def write_chat(disk: Disk) -> None:
    """All but its last message has its node, and so has every merge that can."""
    main, texts = [], {}
    for i in range(MESSAGES):
        kind = KINDS[i % len(KINDS)]
        text = LONG if i % 5 == 0 else f"words of message {i}"
        label = f"{kind}: {text}"
        date = f"2025-01-{1 + i:02}T08:00:00+01:00"
        main.append({"i": i, "kind": kind, "text": text, "size": len(label.encode()), "date": date})
        if len(label) <= 512:
            texts[Part(0, i)] = label
        elif i < MESSAGES - 1:
            texts[Part(0, i)] = f"a plan ({i})"
    for level in range(1, MESSAGES.bit_length()):
        for i in range(MESSAGES >> level):
            left, right = Part(level - 1, 2 * i), Part(level - 1, 2 * i + 1)
            if left in texts and right in texts:
                both = f"{texts[left]}\n{texts[right]}"
                texts[Part(level, i)] = both if len(both) <= 512 else f"{both[:400]}…"
    tree = [
        {"l": part.level, "i": part.i, "text": texts[part], "size": len(texts[part].encode())}
        for part in sorted(
            texts, key=lambda part: (part.end, part.level)
        )  # as its last message comes, lower ones first
    ]
    disk.append("main/2025-01-21.jsonl", _lines(main))
    disk.append("tree/2025-01-21.jsonl", _lines(tree))
    disk.replace("view.json", json.dumps([list(line) for line in VIEW]).encode(), sync=False)


def _lines(records: list[dict[str, object]]) -> bytes:
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)
