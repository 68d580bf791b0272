"""Changes to a module of SymPy that wait until SymPy loads it, so that nobody loads it for them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType


class _Watch(MetaPathFinder):
    """Finds one module as everybody does, and says so when it has been loaded."""

    def __init__(self, name: str, then: Callable[[ModuleType], object]) -> None:
        self.name = name
        self.then = then

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of the module; see `importlib.abc.MetaPathFinder`."""
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        loader = None if spec is None else spec.loader
        if loader is None:
            return spec
        load = loader.exec_module

        def load_and_tell(module: ModuleType) -> None:
            load(module)
            self.then(module)

        loader.exec_module = load_and_tell  # type: ignore[method-assign]  # of this module's alone
        return spec


def once_loaded(name: str, then: Callable[[ModuleType], object]) -> None:
    """Call `then` with a module: now if it is loaded, else when it is first imported."""
    if name in sys.modules:
        then(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Watch(name, then))
