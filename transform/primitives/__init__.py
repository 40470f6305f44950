"""The primitive table, one row for each function of NumPy and math that has a rule.

A new row goes into the module of its theme, or into a new module: all are found.
"""

import importlib
import pkgutil


def load_rows() -> None:
    """Import every module of this folder, and with it enter its rows."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
