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
import math
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
    WORD,
    Register,
    intrinsic,
)

# Of one and of two operands; those with a vector form are tested against NumPy.
ONE = """
    exp exp2 expm1 log log2 log10 log1p cbrt sin cos tan asin acos atan sinh cosh tanh
    asinh acosh atanh erf erfc tgamma lgamma
""".split()  # noqa: SIM905
TWO = "pow atan2 hypot fmod remainder nextafter copysign".split()  # noqa: SIM905
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


LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471805599453, 2.3190468138462996e-17
SHIFT = 1.5 * 2.0**52  # a float this large has its whole part in its last bits


def exp(b: Any, x: Register) -> Register:
    """The exponential of a double without a branch, within one unit in its last place.

    That of libmvec is off by three.  x = n log(2) + r, and e**r by its series.
    Source: Tang 1989, Table-driven implementation of the exponential function.
    """

    def fma(p: Register, q: Register, r: Any) -> Register:
        r = r if isinstance(r, ir.Value) else DOUBLE(r)
        return intrinsic(b, "llvm.fma.f64", DOUBLE, p, q, r)

    low, high = DOUBLE(-746.0), DOUBLE(710.0)  # NaN is neither below nor above
    x = b.select(b.fcmp_ordered("<", x, low), low, x)
    x = b.select(b.fcmp_ordered(">", x, high), high, x)
    shifted = fma(x, DOUBLE(LOG2_E), SHIFT)
    n = b.fsub(shifted, DOUBLE(SHIFT))
    r = fma(b.fneg(n), DOUBLE(LN2_HIGH), x)
    r = fma(b.fneg(n), DOUBLE(LN2_LOW), r)
    series: Register = DOUBLE(1.0 / math.factorial(13))
    for k in range(12, 1, -1):
        series = fma(series, r, 1.0 / math.factorial(k))
    result = b.fadd(DOUBLE(1.0), fma(b.fmul(r, r), series, r))
    bits = b.sub(b.bitcast(shifted, WORD), b.bitcast(DOUBLE(SHIFT), WORD))
    half = b.ashr(bits, WORD(1))  # in two steps, as 2**n itself may be too small
    for part in (half, b.sub(bits, half)):
        exponent = b.shl(b.add(part, WORD(1023)), WORD(52))
        result = b.fmul(result, b.bitcast(exponent, DOUBLE))
    return result


HALF_PI = (
    1.5707963267948966,
    6.123233995736766e-17,
    -1.4973849048591698e-33,
)  # its parts, one after the other
MOST_TURNS = 2.0**30
SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03,
    -1.98412698298579493134e-04, 2.75573137070700676789e-06,
    -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03,
    2.48015872894767294178e-05, -2.75573143513906633035e-07,
    2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip


def circular(b: Any, name: str, x: Register) -> Register:
    """The sine or cosine of a double without a branch, within one and a half units.

    That of libmvec is off by three; it stands in for angles beyond a billion.
    x = n pi/2 + r, exactly but for the last term.  Source: fdlibm, __kernel_sin and
    __kernel_cos.
    """

    def fma(p: Register, q: Any, r: Any) -> Register:
        q, r = (v if isinstance(v, ir.Value) else DOUBLE(v) for v in (q, r))
        return intrinsic(b, "llvm.fma.f64", DOUBLE, p, q, r)

    def polynomial(coefficients: tuple[float, ...], z: Register) -> Register:
        found: Register = DOUBLE(coefficients[-1])
        for c in coefficients[-2::-1]:
            found = fma(found, z, c)
        return found

    shifted = fma(x, 2.0 / math.pi, SHIFT)
    n = b.fsub(shifted, DOUBLE(SHIFT))
    r: Register = x
    for part in HALF_PI:
        r = fma(n, -part, r)
    z = b.fmul(r, r)
    sine = fma(b.fmul(z, r), polynomial(SINE, z), r)
    half = b.fmul(z, DOUBLE(0.5))
    near = b.fsub(DOUBLE(1.0), half)
    lost = b.fsub(b.fsub(DOUBLE(1.0), near), half)
    cosine = b.fadd(near, fma(b.fmul(z, z), polynomial(COSINE, z), lost))
    quadrant = b.bitcast(shifted, WORD)
    if name == "cos":
        quadrant = b.add(quadrant, WORD(1))
    is_odd = b.icmp_signed("!=", b.and_(quadrant, WORD(1)), WORD(0))
    found = b.select(is_odd, cosine, sine)
    sign = b.shl(b.and_(quadrant, WORD(2)), WORD(62))
    found = b.bitcast(b.xor(b.bitcast(found, WORD), sign), DOUBLE)
    if name == "sin":
        found = b.select(b.fcmp_ordered("==", x, DOUBLE(0.0)), x, found)
    size = intrinsic(b, "llvm.fabs.f64", DOUBLE, x)
    is_far = b.fcmp_ordered(">", size, DOUBLE(MOST_TURNS))
    far = b.select(is_far, x, DOUBLE(0.0))  # which costs it little where none is
    return b.select(is_far, call(b, name, far), found)


def has_better(name: str) -> bool:
    """Whether what is written out here is more exact than the vector function."""
    forms = vector_names(name, 1).values()
    return has_fma() and any(f.startswith("_ZGV") for f in forms)


@cache
def has_fma() -> bool:
    """Whether the processor multiplies and adds in one."""
    if platform.machine() in ("x86_64", "AMD64"):
        return bool(llvm.get_host_cpu_features().get("fma", False))
    return platform.machine() in ("aarch64", "arm64")


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
