"""Programs of arrays again, with arguments of other layouts and lengths.

The same program is called with its arrays F-ordered, strided, reversed and read-only,
with every length 1 and 0, and where NumPy is told to raise at what it would warn of:
the value is NumPy's own, and the two modes agree with differences and each other.
"""

import copy
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from programs import PROGRAMS

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
CATEGORIES = ("scalar", "control", "arrays", "ml")
STEP = 1e-6

# Programs of the corpus that wait for something else, and for what.
NOT_YET = {
    "ml.conv_pool_by_loops": "stores into arrays",
    "ml.rnn_next_value": "stores into arrays",
    "ml.diagonal_gmm_loglik": "stores into arrays",
}


# ---- trees of arguments ------------------------------------------------------------


def mapped(f: Callable[[Any], Any], tree: Any) -> Any:
    """The same structure, every leaf replaced."""
    if isinstance(tree, dict):
        return {k: mapped(f, v) for k, v in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(mapped(f, v) for v in tree))
    if isinstance(tree, tuple | list):
        return type(tree)(mapped(f, v) for v in tree)
    return f(tree)


def leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, tuple | list):
        for item in tree:
            yield from leaves(item)
    else:
        yield tree


def of_arrays(f: Callable[[Any], Any], tree: Any) -> Any:
    return mapped(lambda a: f(a) if isinstance(a, np.ndarray) else a, tree)


# ---- layouts and lengths -----------------------------------------------------------


def strided(a: Any) -> Any:
    """The same elements, two apart in memory."""
    return np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a


def reversed_(a: Any) -> Any:
    """The same elements, the last one first in memory."""
    return a[..., ::-1].copy()[..., ::-1] if a.ndim else a


def read_only(a: Any) -> Any:
    a = a.copy()
    a.setflags(write=False)
    return a


def of_length(n: int) -> Callable[[Any], Any]:
    """Every axis with so many elements, the first of them."""
    return lambda a: a[(slice(0, n),) * a.ndim].copy()


VARIANTS: dict[str, Callable[[Any], Any]] = {
    "as it is": np.copy,
    "F-ordered": np.asfortranarray,
    "strided": strided,
    "reversed": reversed_,
    "read-only": read_only,
    "of length 1": of_length(1),
    "of length 0": of_length(0),
}


# ---- what is asked of a program ----------------------------------------------------


def is_active(a: Any) -> bool:
    return isinstance(a, float | complex | np.inexact) or (
        isinstance(a, np.ndarray) and a.dtype.kind in "fc"
    )


def direction(tree: Any, seed: int) -> Any:
    rng = np.random.default_rng(seed)

    def toward(a: Any) -> Any:
        if not is_active(a):
            return 0
        v = rng.normal(size=np.shape(a))
        if np.iscomplexobj(a):
            v = v + 1j * rng.normal(size=np.shape(a))
        return (
            np.asarray(v).astype(a.dtype) if isinstance(a, np.ndarray) else type(a)(v)
        )

    return mapped(toward, tree)


def moved(args: Any, dots: Any, step: float) -> Any:
    pairs = iter(list(leaves(dots)))

    def move(a: Any) -> Any:
        dot = next(pairs)
        return a + step * dot if is_active(a) else a

    return mapped(move, args)


def flat(tree: Any) -> Any:
    parts = [np.ravel(a) for a in leaves(tree) if is_active(a)]
    return np.concatenate(parts) if parts else np.zeros(0)


def same(a: Any, b: Any) -> bool:
    """Bit for bit, kinds and shapes too."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return bool(a == b) or (a != a and b != b)


def check(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """The value, both modes, and that the arguments stay as they are."""
    kept = copy.deepcopy(args)
    expected = f(*args)  # a copy would lose the layout
    dots = direction(args, 1)
    value, value_dot = gw.jvp(f, args, dots)
    assert all(map(same, leaves(value), leaves(expected)))
    value, pull = gw.vjp(f, *args)
    assert all(map(same, leaves(value), leaves(expected)))
    bar = direction(value, 2)
    bars = pull(bar)
    assert all(map(same, leaves(args), leaves(kept)))
    for a, b in zip(leaves(args), leaves(bars), strict=True):
        if is_active(a):
            assert np.shape(b) == np.shape(a)
            assert np.asarray(b).dtype == np.asarray(a).dtype
    forward, backward = flat(bar) @ flat(value_dot), flat(bars) @ flat(dots)
    short = any(getattr(a, "dtype", None) == np.float32 for a in leaves(args))
    scale = np.sum(np.abs(flat(bars) * flat(dots))) + 1e-300
    if not (np.all(np.isfinite(flat(value))) and np.isfinite(forward)):
        return  # a mean of nothing, say: what its derivative is, is not promised
    assert abs(np.real(forward - backward)) <= (1e-4 if short else 1e-9) * scale
    if short:
        return
    ahead, behind = (flat(f(*moved(args, dots, s))) for s in (STEP, -STEP))
    slope = (ahead - behind) / (2 * STEP)
    size = np.max(np.abs(slope), initial=0.0) + np.max(np.abs(ahead), initial=0.0)
    np.testing.assert_allclose(
        flat(value_dot), slope, rtol=1e-4, atol=1e-5 * size + 1e-6
    )


def raises(f: Callable[..., Any], args: tuple[Any, ...]) -> Exception | None:
    """What plain NumPy raises for these arguments."""
    try:
        f(*copy.deepcopy(args))
    except Exception as e:
        return e
    return None


def check_or_same_error(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    error = raises(f, args)
    if error is None:
        check(f, args)
        return
    for transform in (
        lambda: gw.vjp(f, *args),
        lambda: gw.jvp(f, args, direction(args, 1)),
    ):
        with pytest.raises(type(error)) as caught:
            transform()
        assert not isinstance(caught.value, gw.GradwrightError)


# ---- the project's own programs ----------------------------------------------------

OWN = [
    p for p in PROGRAMS if any(isinstance(a, np.ndarray) for a in p.samples[0].values())
]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("program", OWN, ids=lambda p: p.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_own_programs(program: Any, variant: str) -> None:
    args = tuple(program.samples[0].values())
    check_or_same_error(program.function, of_arrays(VARIANTS[variant], args))


# ---- the corpus --------------------------------------------------------------------


def corpus() -> Iterator[Any]:
    """Its programs with arrays, where it stands."""
    if not CORPUS.is_dir():
        yield pytest.param(None, marks=pytest.mark.skip("needs ../shared"), id="corpus")
        return
    with open(CORPUS / "expected.json", encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    for case in cases:
        if case["category"] in CATEGORIES and "$a" in json.dumps(case["args"]):
            yield pytest.param(case, id=case["id"])


def loaded(case: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function of a case and its arguments."""
    sys.path.insert(0, str(CORPUS))
    try:
        check_module = importlib.import_module("check")
        module = importlib.import_module(case["module"])
    finally:
        sys.path.remove(str(CORPUS))
    if hasattr(module, "gw"):
        module.gw = gw
    f = check_module.resolve(module, case["fn"])
    return f, tuple(check_module.decode(case["args"], module))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("case", list(corpus()))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_corpus(case: Any, variant: str) -> None:
    if case["id"] in NOT_YET:
        pytest.skip(f"waits for {NOT_YET[case['id']]}")
    f, args = loaded(case)
    check_or_same_error(f, of_arrays(VARIANTS[variant], args))


@pytest.mark.parametrize("case", list(corpus()))
def test_corpus_where_numpy_raises_at_what_it_warns_of(case: Any) -> None:
    if case["id"] in NOT_YET:
        pytest.skip(f"waits for {NOT_YET[case['id']]}")
    f, args = loaded(case)
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        check_or_same_error(f, args)
