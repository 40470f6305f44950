"""The primitive table, one row for each function of NumPy and math that has a rule.

A new row goes into the module of its theme, or into a new module: all are found.
"""

import importlib
import pkgutil

from gradwright.transform.primitives.record import TABLE

# What nearly every program needs; the rest is imported at the first callable of NumPy
# that these have no row for.
COMMON = (
    *("arithmetic", "comparison", "complex", "exponential", "reductions"),
    *("rounding", "special", "structural", "trigonometric"),
)


def load_rows() -> None:
    """Import every module of this folder, and with it enter its rows."""
    TABLE.rest = None
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def load_common() -> None:
    """Import the modules that nearly every program needs; the others when asked for."""
    if not TABLE.rows:
        TABLE.rest = load_rows
        for name in COMMON:
            importlib.import_module(f"{__name__}.{name}")
