"""A client's tools, which print, fail, end at once or late, or never do. What one gives follows from its input."""

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

from eukhe.actors.ports import ToolEnded, ToolEvent, ToolSaid
from eukhe.limits import SIM_TURN_S
from eukhe.model.tool_input import Edit, Write
from eukhe.sim.workers import Fate, SimCalls

if TYPE_CHECKING:
    from eukhe.sim.machine import Machine

Ran = tuple[str, str]
"""A tool's name and input."""


class SimTools(SimCalls[Ran]):
    """Implements `Tools`."""

    def __init__(self, machine: "Machine", name: str) -> None:
        super().__init__(machine.scheduler, self._fate_of, machine.faults.meet, name=name)
        self._faults = machine.faults

    def start(self, call: int, name: str, input_: str, heard: Callable[[ToolEvent], None]) -> None:
        self.begin(call, (name, input_), heard)

    def _fate_of(self, ran: Ran, random: Random) -> Fate:
        text = output_of(*ran)
        prints_s, ends_s = sorted(random.random() * SIM_TURN_S for _ in range(2))
        printed = ((prints_s, ToolSaid(text[: len(text) // 2])),)
        if self._faults.strikes("hung-tool"):
            return Fate(printed, fault="hung-tool")
        failed = self._faults.strikes("failed-tool")
        return Fate((*printed, (ends_s, ToolEnded(text, failed=failed))), fault="failed-tool" if failed else "")


class Anywhere:
    """Implements `Place`: no path leads elsewhere."""

    def resolve(self, path: str) -> str:
        return f"/work/{path}"

    def change(self, given: Write | Edit) -> str:
        return f"changes {given.path}"


def output_of(name: str, input_: str) -> str:
    """What a tool gives, whether it fails or not."""
    return f"{name} gave this for {input_}"
