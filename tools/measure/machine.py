"""The machine that was measured, in one line."""

import os
import platform
import sys
from pathlib import Path


def machine(folder: Path) -> dict[str, str | int]:
    """`folder`: where the measured files lie. `load`: how many processes wanted to run in the last minute."""
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.release()}",
        "filesystem": _filesystem(folder),
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def line(of: dict[str, str | int]) -> str:
    """For people."""
    found = ", ".join(str(of[what]) for what in ("cpu", "python", "system", "filesystem"))
    return f"{found}; {of['cores']} cores; load {of['load']} before"


def _cpu() -> str:
    if sys.platform == "linux":
        for row in Path("/proc/cpuinfo").read_text().splitlines():
            if row.startswith("model name"):
                return row.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _filesystem(folder: Path) -> str:
    """The type of the file system that a folder lies on."""
    if sys.platform != "linux":
        return "the system's own file system"
    mounts = (row.split() for row in Path("/proc/self/mounts").read_text().splitlines())
    holding = [(Path(row[1]), row[2]) for row in mounts if folder.resolve().is_relative_to(row[1])]
    return max(holding, key=lambda mount: len(mount[0].parts))[1]
