"""Building: a module of LLVM through Numba to machine code, and what calls it.

Numba compiles one small function of one signature, int64(int64), in which an intrinsic
stands for the module: it optimises both as one, and makes what Python calls.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import njit, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from gradwright.backends.machine import elementary
from gradwright.backends.machine.program import Program

KERNEL = "kernel"
SIGNATURE = types.int64(types.int64)
# Of LLVM's, costly to run and of no use to such loops; set for our compilations only.
OFF = ("--disable-lsr", "--unroll-runtime=false")
ON_AGAIN = ("--disable-lsr=false", "--unroll-runtime=true")

WRAPPER: dict[str, Any] = {"no_cfunc_wrapper": True}

Call = Callable[[int], int]
_lock = threading.RLock()


def _renew_lock() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def text_of(program: Program) -> tuple[str, str]:
    """The module as text, under a name of its own; and that name."""
    module = program.module
    codegen = cpu_target.target_context.codegen()
    module.triple = llvm.get_process_triple()
    module.data_layout = str(codegen.target_data)
    text = str(module)
    name = f"gradwright_{hashlib.sha256(text.encode()).hexdigest()[:32]}"
    return text.replace(f'@"{KERNEL}"', f'@"{name}"'), name


def compiled(text: str, name: str) -> Any:
    """What Numba makes of a module: its compile result."""
    elementary.register()

    @intrinsic
    def kernel(typing_context: Any, frame: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            module = llvm.parse_assembly(text)
            module.verify()
            context.active_code_library.add_llvm_module(module)
            kind = ir.FunctionType(ir.IntType(64), [ir.PointerType()])
            function = ir.Function(builder.module, kind, name)
            return builder.call(function, [builder.inttoptr(args[0], ir.PointerType())])

        return SIGNATURE, code

    stands_for: Any = kernel

    def call(frame: int) -> Any:
        return stands_for(frame)

    call.__name__ = call.__qualname__ = name
    with _lock, _fewer_passes():
        made: Any = njit(SIGNATURE, **WRAPPER)(call)
    return made.overloads[SIGNATURE.args]


@contextmanager
def _fewer_passes() -> Iterator[None]:
    for option in OFF:
        llvm.set_option("", option)
    try:
        yield
    finally:
        for option in ON_AGAIN:
            llvm.set_option("", option)
