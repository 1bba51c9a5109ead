"""builtin/recall. Pure: no clock, disk or threads."""

from eukhe.model.talk import Reply, Talk, Text


def recall(talk: Talk) -> Reply:
    return Reply((Text("builtin/recall"),), "end")
