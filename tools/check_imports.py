"""Who may import whom, checked in the syntax tree: prints `file:line: rule` for each breach.

    limits, errors <- model <- words (actors.ports, messages, behaviour) <- behaviours <- hosts, sim <- cli

The world and the simulator implement the ports and never see each other; behaviours see neither. The composition roots
are cli.owner and, of a client, cli.turn; no other command starts actors.
"""

import argparse
import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent

# A layer's modules, by the longest prefix that fits, and the layers that it may import besides itself.
LAYER_OF = {
    "eukhe": "base",
    "eukhe.limits": "base",
    "eukhe.errors": "base",
    "eukhe.model": "model",
    "eukhe.actors": "behaviours",
    "eukhe.actors.ports": "words",
    "eukhe.actors.messages": "words",
    "eukhe.actors.behaviour": "words",
    "eukhe.actors.wire": "words",
    "eukhe.actors.outbox": "words",
    "eukhe.actors.routes": "words",
    "eukhe.actors.log_files": "readers",
    "eukhe.actors.archive": "readers",
    "eukhe.actors.agent_logs": "readers",
    "eukhe.actors.look": "readers",
    "eukhe.actors.opening": "opening",
    "eukhe.actors.makers": "opening",
    "eukhe.actors.host": "hosts",
    "eukhe.actors.threads": "hosts",
    "eukhe.world": "world",
    "eukhe.sim": "sim",
    "eukhe.worker": "worker",
    "eukhe.cli": "cli",
    "eukhe.cli.owner": "root",
    "eukhe.cli.turn": "root",
    "eukhe.__main__": "program",
    "eukhe.demo": "demo",
}
MAY_IMPORT = {
    "base": set[str](),
    "model": {"base"},
    "words": {"base", "model"},
    "readers": {"base", "model", "words"},
    "behaviours": {"base", "model", "words", "readers"},
    "opening": {"base", "model", "words", "readers", "behaviours"},
    "hosts": {"base", "model", "words", "readers", "behaviours"},
    "world": {"base", "model", "words"},
    "sim": {"base", "model", "words", "readers", "behaviours", "opening", "hosts"},
    "worker": {"base", "model", "words", "world"},
    "root": {"base", "model", "words", "readers", "behaviours", "opening", "hosts", "world", "cli"},
    "cli": {"base", "model", "words", "readers", "opening", "world", "sim", "root", "demo"},
    "program": {"cli"},
    "demo": {"base"},
}

# What a pure module may use besides eukhe: nothing that knows the time, the machine or chance.
PURE_MODULES = {
    "abc", "array", "bisect", "collections", "dataclasses", "datetime", "difflib", "enum", "fractions", "functools",
    "hashlib", "heapq", "html", "itertools", "json", "math", "msgspec", "operator", "orjson", "posixpath", "re",
    "string", "struct", "textwrap", "types", "typing", "unicodedata", "zlib",
}  # fmt: skip
IMPURE_CALLS = {
    "open",
    "print",
    "input",
    "eval",
    "exec",
    "compile",
    "__import__",
    "breakpoint",
    "globals",
    "id",
    "hash",
}
# Of what a pure module may use, what asks the machine for its time or its zone.
IMPURE_METHODS = {"astimezone", "now", "today", "utcnow"}
PURE_LAYERS = {"base", "model"}

PACKAGE_USERS = {
    "pykka": ("eukhe.actors.host", "eukhe.actors.threads", "eukhe.sim.runtime"),
    "filelock": ("eukhe.world",),
    "sqlite3": ("eukhe.world", "eukhe.sim"),
    "rich": ("eukhe.cli",),
    "click": ("eukhe.cli",),
    "prompt_toolkit": ("eukhe.cli",),
    "anthropic": ("eukhe.world.providers", "eukhe.worker"),
    "httpx": ("eukhe.world.providers", "eukhe.worker"),
    "httpx2": ("eukhe.world.providers", "eukhe.worker"),
}
# What `eukhe --version` loads must not load these, not even through others.
LIGHT_MODULE = "eukhe.cli.main"
HEAVY_PACKAGES = {"anthropic", "httpx", "httpx2", "msgspec", "orjson", "prompt_toolkit", "pykka", "rich", "sqlite3"}


class Breach(NamedTuple):
    """One line that breaks a rule."""

    path: str
    line: int
    rule: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}"


class Import(NamedTuple):
    """A module imported; `at_load`: when its importer is, not in a function or for the types alone."""

    module: str
    line: int
    at_load: bool


def breaches(root: Path = ROOT) -> list[Breach]:
    """Every breach below root/eukhe, by file and line."""
    files = {module_of(path, root): path for path in sorted((root / "eukhe").rglob("*.py"))}
    trees = {module: ast.parse(path.read_text(), str(path)) for module, path in files.items()}
    known = {name for module in files for name in _with_packages(module)}
    imports = {module: list(_imports(module, tree, known)) for module, tree in trees.items()}
    found = [
        Breach(str(path.relative_to(root)), line, rule)
        for module, path in files.items()
        for line, rule in [*_directions(module, imports[module]), *_impurities(module, imports[module], trees[module])]
    ]
    found += [Breach(str(files[module].relative_to(root)), line, rule) for module, line, rule in _heavy(imports)]
    return sorted(found)


def module_of(path: Path, root: Path) -> str:
    """The dotted name of a file."""
    names = path.relative_to(root).with_suffix("").parts
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


def _with_packages(module: str) -> list[str]:
    """A module's name and those of the packages that it lies in, which are loaded before it."""
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def layer_of(module: str) -> str | None:
    """The layer of a module of eukhe; None where the table has none. A package's own name stands for nothing below."""
    prefix = module
    while prefix != "eukhe":
        if prefix in LAYER_OF:
            return LAYER_OF[prefix]
        prefix = prefix.rpartition(".")[0]
    return LAYER_OF["eukhe"] if module == "eukhe" else None


def _imports(module: str, tree: ast.Module, known: set[str]) -> Iterator[Import]:
    """Every import of a module. `from a import b` is of a.b where that is a module, else of a."""
    later = _spans_run_later(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module.split(".")
                base = ".".join([*package[: len(package) - node.level], *filter(None, [node.module])])
            names = [full if (full := f"{base}.{alias.name}") in known else base for alias in node.names]
        else:
            continue
        at_load = not any(first <= node.lineno <= last for first, last in later)
        yield from (Import(name, node.lineno, at_load) for name in names)


def _spans_run_later(tree: ast.Module) -> list[tuple[int, int]]:
    """The lines of functions and of `if TYPE_CHECKING:`."""
    return [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        or (isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"))
    ]


def _directions(module: str, imports: list[Import]) -> Iterator[tuple[int, str]]:
    layer = layer_of(module)
    if layer is None:
        yield 1, f"{module} has no layer: give it one in tools/check_imports.py"
        return
    for name, line, _ in imports:
        package = name.partition(".")[0]
        if package == "eukhe":
            target = layer_of(name)
            if target is not None and target != layer and target not in MAY_IMPORT[layer]:
                yield line, f"{layer} may not import {target} ({name})"
        users = PACKAGE_USERS.get(package)
        if users and not any(module == user or module.startswith(f"{user}.") for user in users):
            yield line, f"only {', '.join(users)} may import {package}"


def _impurities(module: str, imports: list[Import], tree: ast.Module) -> Iterator[tuple[int, str]]:
    if layer_of(module) not in PURE_LAYERS:
        return
    allowed = PURE_MODULES | {"eukhe"} | ({"pathlib"} if layer_of(module) == "base" else set())
    for name, line, _ in imports:
        if name.partition(".")[0] not in allowed:
            yield line, f"a pure module may not import {name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS:
            yield node.lineno, f"a pure module may not call {node.func.id}()"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in IMPURE_METHODS:
            yield node.lineno, f"a pure module may not call .{node.func.attr}()"


def _heavy(imports: dict[str, list[Import]]) -> Iterator[tuple[str, int, str]]:
    """Heavy packages that loading the light module loads, each at the line that imports it."""
    seen = set[str]()
    waiting = [LIGHT_MODULE]
    while waiting:
        module = waiting.pop()
        if module in seen or module not in imports:
            continue
        seen.add(module)
        for name, line, at_load in imports[module]:
            if not at_load:
                continue
            if name.partition(".")[0] in HEAVY_PACKAGES:
                yield module, line, f"{LIGHT_MODULE} loads {module}, so it may import {name} only in a function"
            waiting += _with_packages(name)


def main() -> int:
    parser = argparse.ArgumentParser(description="Check who imports whom.")
    parser.add_argument("--root", type=Path, default=ROOT)
    found = breaches(parser.parse_args().root)
    for breach in found:
        print(breach)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
