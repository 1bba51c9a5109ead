"""Sessions of other agents, read as messages: `plan` looks through the files, `read` says what was said in them."""

from eukhe.world.transcripts.said import Said, Unreadable
from eukhe.world.transcripts.sessions import Plan, plan, read

__all__ = ["Plan", "Said", "Unreadable", "plan", "read"]
