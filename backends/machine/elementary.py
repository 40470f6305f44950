"""Elementary functions: the C library's, and their vector forms inside loops.

    exp(x)  ->  call double @gradwright_exp(double %x), with its vector variants

LLVM's loop vectoriser knows `exp` by name and would take it apart again; under a name
of ours, and told which function does two, four or eight at once, it calls that.  Those
come from glibc's libmvec, or from Intel's libsvml where only that is found; elsewhere
the scalar call remains.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import platform
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from gradwright.backends.machine.scalars import (
    DOUBLE,
    FLOAT,
    Register,
)

# Of one and of two operands; those with a vector form are tested against NumPy.
ONE = """
    exp exp2 expm1 log log2 log10 log1p cbrt sin cos tan asin acos atan sinh cosh tanh
    asinh acosh atanh erf erfc tgamma lgamma
""".split()  # noqa: SIM905
TWO = "pow atan2 hypot fmod remainder copysign".split()  # noqa: SIM905
COMPLEX = """
    cexp clog csqrt csin ccos ctan csinh ccosh ctanh casin cacos catan casinh cacosh
    catanh cpow
""".split()  # noqa: SIM905
VECTOR = """
    exp exp2 expm1 log log2 log10 log1p cbrt sin cos tan asin acos atan sinh cosh tanh
    asinh acosh atanh erf erfc pow atan2 hypot
""".split()  # noqa: SIM905
PREFIX = "gradwright_"


@cache
def library(name: str) -> ctypes.CDLL | None:
    """A shared library of the system, where it is found."""
    try:
        return ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return None


@cache
def register() -> frozenset[str]:
    """Make the functions known to LLVM under our names; those that are there."""
    libm = library(ctypes.util.find_library("m") or "libm.so.6")
    found = set()
    for name in [*ONE, *TWO, *(f"{n}f" for n in (*ONE, *TWO)), *COMPLEX, "fma"]:
        function = getattr(libm, name, None)
        if function is not None:
            address = ctypes.cast(function, ctypes.c_void_p).value
            llvm.add_symbol(PREFIX + name, address)
            found.add(name)
    libc = ctypes.CDLL(None)
    for name in ("malloc", "realloc", "free"):
        address = ctypes.cast(getattr(libc, name), ctypes.c_void_p).value
        llvm.add_symbol(PREFIX + name, address)
    return frozenset(found)


@cache
def vector_names(name: str, arity: int) -> dict[int, str]:
    """By how many at once, the vector function that is there for a scalar one."""
    is_single = name.endswith("f") and name not in ("erf",)
    base = name[:-1] if is_single else name
    if base not in VECTOR or platform.machine() not in ("x86_64", "AMD64"):
        return {}
    few = 4 if is_single else 2
    widths = few, 2 * few, 4 * few
    svml = library(svml_path())
    if svml is not None:
        names = {n: f"__svml_{name}{n}_ha" for n in widths}  # of high accuracy
        if all(hasattr(svml, n) for n in names.values()):
            llvm.load_library_permanently(svml_path())
            return names
    mvec = library("libmvec.so.1")
    if mvec is not None:
        forms = dict(zip(widths, "bde", strict=True))
        v = "v" * arity
        names = {n: f"_ZGV{isa}N{n}{v}_{name}" for n, isa in forms.items()}
        if all(hasattr(mvec, n) for n in names.values()):
            llvm.load_library_permanently("libmvec.so.1")
            return names
    return {}


def svml_path() -> str:
    """Where a package of Intel's puts libsvml, or its bare name."""
    folder = Path(sys.prefix) / "lib"
    if not (folder / "libsvml.so").exists():
        return "libsvml.so"
    library(str(folder / "libintlc.so.5"))  # which it needs, and does not look for here
    return str(folder / "libsvml.so")


def call(b: Any, name: str, *parts: Register) -> Register:
    """A function of the C library, of doubles or floats."""
    kind = parts[0].type
    if kind == FLOAT:
        if f"{name}f" not in register():
            wide = [b.fpext(p, DOUBLE) for p in parts]
            return b.fptrunc(call(b, name, *wide), FLOAT)
        name = f"{name}f"
    function = declared(b.module, PREFIX + name, kind, [kind] * len(parts))
    made = b.call(function, parts)
    variants = vector_names(name, len(parts))
    pure = ["nounwind", "willreturn", "memory(none)"]
    if variants:
        for width, symbol in variants.items():
            vector = ir.VectorType(kind, width)
            form = declared(b.module, symbol, vector, [vector] * len(parts))
            _keep(b.module, form)
        v = "v" * len(parts)
        mapped = ",".join(
            f"_ZGV_LLVM_N{n}{v}_{PREFIX}{name}({symbol})"
            for n, symbol in variants.items()
        )
        pure.append(f'"vector-function-abi-variant"="{mapped}"')
    for attribute in pure:  # llvmlite lets only few by
        set.add(made.attributes, attribute)
    return made


def call_complex(
    b: Any, name: str, operands: Iterable[tuple[Register, ...]]
) -> tuple[Register, Register]:
    """A function of complex numbers, of two doubles each."""
    register()
    parts = [p for pair in operands for p in pair]
    pair = ir.LiteralStructType([DOUBLE, DOUBLE])
    function = declared(b.module, PREFIX + name, pair, [DOUBLE] * len(parts))
    made = b.call(function, parts)
    return b.extract_value(made, 0), b.extract_value(made, 1)


def declared(module: Any, name: str, result: Any, kinds: list[Any]) -> Any:
    """A function from outside of the module."""
    found = module.globals.get(name)
    if found is None:
        found = ir.Function(module, ir.FunctionType(result, kinds), name)
    return found


def _keep(module: Any, function: Any) -> None:
    """LLVM drops what nobody calls before it vectorises: it must not drop these."""
    kept = module.__dict__.setdefault("gradwright_kept", [])
    if function in kept:
        return
    kept.append(function)
    kind = ir.ArrayType(ir.PointerType(), len(kept))
    used = module.globals.get("llvm.compiler.used")
    if used is None:
        used = ir.GlobalVariable(module, kind, "llvm.compiler.used")
        used.linkage, used.section = "appending", "llvm.metadata"
    used.value_type = kind
    used.initializer = ir.Constant(kind, kept)
