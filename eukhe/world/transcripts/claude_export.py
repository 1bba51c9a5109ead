"""The export of claude.ai/code: one JSON object whose `loglines` are the records of a Claude Code session."""

import re
from collections.abc import Sequence

from eukhe.world.transcripts.claude import Claude
from eukhe.world.transcripts.lines import Record

_STRING = rb'"(?:[^"\\]|\\.)*+"'
_SCALAR = rb"(?:" + _STRING + rb"|[-+.\w]+)"
# Before the list stand at most plain values.
_HEAD = re.compile(rb"\s*\{\s*(?:" + _STRING + rb"\s*:\s*" + _SCALAR + rb'\s*,\s*)*"loglines"\s*:\s*\[')


class ClaudeExport(Claude):
    """The reader of an export; a cut one gives its whole records."""

    name = "claude-export"
    whole_file = True

    def opens(self, head: bytes) -> bool:
        return _HEAD.match(head) is not None

    def records(self, record: Record) -> Sequence[Record]:
        match record.get("loglines"):
            case list(records):
                return [inner for inner in records if isinstance(inner, dict)]
        return (record,)
