"""The modules that lie beside a loader, as text: a script carries them (pure)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from midepoch_conformance.case.adapter import LoaderInfo
from midepoch_conformance.scripts.source.source_tree import SUITE

__all__ = ["absolute", "beside", "finder"]

_INSTALLED = ("site-packages", "dist-packages")

_FINDER = '''
class Beside:
    """Finds the modules above."""

    def find_spec(self, name, path=None, target=None):
        if name in MODULES:
            package = any(other.startswith(name + ".") for other in MODULES)
            return importlib.machinery.ModuleSpec(name, self, is_package=package)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__
        exec(compile(MODULES[name], f"{name}.py", "exec"), vars(module))


sys.meta_path.insert(0, Beside())
'''


def beside(info: LoaderInfo) -> dict[str, str]:
    """Return the texts of the modules that a loader's module imports from beside it, by name.

    Modules of installed packages are none of them. The module of a ``make_loader`` function is one
    itself; a script holds an adapter's own lines elsewhere.
    """
    base = _base(info)
    if base is None:
        return {}
    found: dict[str, str] = {}
    ahead = [info.module]
    while ahead:
        name = ahead.pop()
        path = _path(base, name)
        if name in found or path is None:
            continue
        found[name] = path.read_text(encoding="utf-8")
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for wanted in _imported(found[name], package):
            parts = wanted.split(".")
            ahead += [".".join(parts[: count + 1]) for count in range(len(parts))]
    for name in list(found):
        parents = name.split(".")[:-1]
        for count in range(len(parents)):
            found.setdefault(".".join(parents[: count + 1]), "")
    if not info.function:
        del found[info.module]
    return dict(sorted(found.items()))


def _base(info: LoaderInfo) -> Path | None:
    """Return the folder from which a loader's module is imported; None if it is installed."""
    if not info.file or info.module.startswith(f"{SUITE}."):
        return None
    path = Path(info.file)
    if any(part in _INSTALLED for part in path.parts):
        return None
    depth = info.module.count(".") + (path.name == "__init__.py")
    return path.parents[depth]


def _path(base: Path, name: str) -> Path | None:
    place = base.joinpath(*name.split("."))
    for path in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
        if path.is_file() and not any(part in _INSTALLED for part in path.parts):
            return path
    return None


def _imported(text: str, package: str) -> Iterator[str]:
    """Yield the names of the modules that a text may import, absolute."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node, package)
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    above = parts[: len(parts) - node.level + 1]
    return ".".join([*above, *filter(None, [node.module])])


def absolute(text: str, module: str) -> str:
    """Return an adapter's text with its relative imports made absolute."""
    tree, package = ast.parse(text), module.rpartition(".")[0]
    relative = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.level]
    for node in relative:
        node.module, node.level = _absolute(node, package), 0
    return ast.unparse(tree) if relative else text


def finder(modules: dict[str, str]) -> list[str]:
    """Return the lines of a script that make the modules importable."""
    if not modules:
        return []
    lines = [
        "# Copies of the modules beside the loader. Edit them here to try a change.",
        "MODULES = {",
    ]
    lines += [f"    {name!r}: {_quoted(text)}," for name, text in modules.items()]
    return [*lines, "}", "", *_FINDER.rstrip().splitlines()]


def _quoted(text: str) -> str:
    plain = "'''" not in text and "\\" not in text and not text.endswith("'")
    return f"'''\\\n{text}'''" if plain and text else repr(text)
