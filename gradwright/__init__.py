"""gradwright: rewrites ordinary Python into differentiated Python that you can read.

>>> import gradwright as gw
>>> def energy(x):
...     return 0.5 * x * x
>>> gw.grad(energy)(3.0)
3.0
"""

from gradwright import lax
from gradwright.cache import clear_caches
from gradwright.checks import check_grads
from gradwright.compiling import jit
from gradwright.custom import custom_jvp, custom_vjp, custom_vmap
from gradwright.inspection import show, source, stages
from gradwright.mapping import vmap
from gradwright.switches import (
    config,
    debug_nans,
    disable_jit,
    explain_cache_misses,
    log_compiles,
)
from gradwright.transform.errors import (
    AliasError,
    BackendError,
    CompileWarning,
    EffectError,
    GradwrightError,
    MissingRule,
    NotDifferentiable,
    ShapeError,
    SourceError,
    UnsupportedSyntax,
)
from gradwright.transforms import (
    Transformed,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
)

__all__ = [
    "AliasError",
    "BackendError",
    "CompileWarning",
    "EffectError",
    "GradwrightError",
    "MissingRule",
    "NotDifferentiable",
    "ShapeError",
    "SourceError",
    "Transformed",
    "UnsupportedSyntax",
    "check_grads",
    "clear_caches",
    "config",
    "custom_jvp",
    "custom_vjp",
    "custom_vmap",
    "debug_nans",
    "disable_jit",
    "explain_cache_misses",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "lax",
    "linearize",
    "log_compiles",
    "show",
    "source",
    "stages",
    "stop_gradient",
    "value_and_grad",
    "vjp",
    "vmap",
]
