"""What an actor may ask of the outside. `world` implements these for real, `sim` on a virtual machine.

A behaviour reads through its ports and writes by its effects alone; only the index, a cache that can be thrown away,
is written by the one actor that owns it. Paths are relative to the chat's folder, with `/`.
"""

from eukhe.actors.ports.calls import *
from eukhe.actors.ports.client import *
from eukhe.actors.ports.sockets import *
from eukhe.actors.ports.storage import *
