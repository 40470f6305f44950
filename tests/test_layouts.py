"""Programs of arrays again, with arguments of other layouts and lengths.

The same program is called with its arrays F-ordered, strided, reversed and read-only,
with every length 1 and 0, with one array or two overlapping ones for two arguments, and
where NumPy is told to raise at what it would warn of: the value is NumPy's own, the two
modes agree with differences and each other, and what is done to a result changes no
later one.
"""

import copy
import importlib
import itertools
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
CATEGORIES = (
    "scalar", "control", "arrays", "ml", "mutation", "simulation",
)  # fmt: skip
STEP = 1e-6

# Programs of the corpus that wait for something else, and for what.
NOT_YET = {}

# Programs of which NumPy makes nothing where the first of two arrays stands for both;
# where the second does; and what gradwright refuses there.
NOT_THE_FIRST = """
    cross_entropy least_squares embedded recurrent portfolio scattered
    mutation.update_matrix_parts arrays.pairwise_kernel_sum arrays.pick_and_mix
    arrays.reassemble_blocks arrays.padded_pattern arrays.cumulative_things
    arrays.order_statistics simulation.heat_source_misfit simulation.render_brightness
    simulation.dominant_eigenvalue ml.mlp_cross_entropy ml.conv_pool_by_loops
    ml.trained_loss
""".split()
NOT_THE_SECOND = """
    cross_entropy least_squares embedded log_loss gaussian portfolio
    mutation.update_matrix_parts arrays.pairwise_kernel_sum arrays.pick_and_mix
    arrays.reassemble_blocks arrays.padded_pattern arrays.cumulative_things
    arrays.order_statistics arrays.solve_and_determinant arrays.gaussian_loglik_cholesky
    arrays.spectrum_and_norms arrays.integrate_profile simulation.mean_field_ising
    simulation.dominant_eigenvalue ml.logistic_regression ml.mlp_cross_entropy
    ml.conv_pool_by_loops ml.vae_negative_elbo ml.trained_loss
""".split()
STORE_INTO_AN_ARGUMENT = ["mutation.overwrites_its_argument"]
REFUSED = {
    ("simulation.mean_field_ising", "the first"): "ranks that change in a loop",
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


def arrays(tree: Any) -> Iterator[Any]:
    return (a for a in leaves(tree) if isinstance(a, np.ndarray))


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


def of_each(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda args: of_arrays(f, args)


def of_two(f: Callable[[Any], Any], which: int = 0) -> Callable[[Any], Any]:
    """Two arrays that `f` makes of one, in the places of two, of two alike if any."""

    def vary(args: Any) -> Any:
        every = list(arrays(args))
        pairs = list(itertools.combinations(range(len(every)), 2))
        if not pairs:
            pytest.skip("has no two arrays")
        alike = [
            pair
            for pair in pairs
            if len({(every[k].shape, every[k].dtype) for k in pair}) == 1
        ]
        at = [*alike, *pairs][0]
        put = dict(zip(at, f(np.copy(every[at[which]])), strict=True))
        numbers = itertools.count()
        return of_arrays(lambda a: put.get(next(numbers), a), args)

    return vary


def overlapping(a: Any) -> Any:
    """The same elements, and those of them that start one later in memory."""
    if not a.ndim:
        return a, a
    longer = np.concatenate([a, a[:1]])
    return longer[:-1], longer[1:]


VARIANTS: dict[str, Callable[[Any], Any]] = {
    "as it is": of_each(np.copy),
    "F-ordered": of_each(np.asfortranarray),
    "strided": of_each(strided),
    "reversed": of_each(reversed_),
    "read-only": of_each(read_only),
    "of length 1": of_each(of_length(1)),
    "of length 0": of_each(of_length(0)),
}
PAIRS: dict[str, Callable[[Any], Any]] = {
    "the first": of_two(lambda a: (a, a)),
    "the second": of_two(lambda a: (a, a), 1),
    "the first, overlapping": of_two(overlapping),
    "the second, overlapping": of_two(lambda a: overlapping(a)[::-1], 1),
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


def same_leaves(a: Any, b: Any) -> bool:
    pairs = zip(leaves(a), leaves(b), strict=True)
    return all(same(x, y) for x, y in pairs)


def plain(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What NumPy gives; what it stored into the arguments is put back."""
    kept = copy.deepcopy(args)
    try:
        return copy.deepcopy(f(*args))  # of a copy the layout would be lost
    finally:
        for a, old in zip(arrays(args), arrays(kept), strict=True):
            if not same(a, old):
                a[...] = old


def poison(tree: Any) -> None:
    """Every array there holds nothing any more."""
    for a in arrays(tree):
        a.fill(np.nan if a.dtype.kind in "fc" else 1)


def twice(call: Callable[[], Any]) -> Any:
    """What a call gives, and again when its first results hold nothing any more."""
    first = call()
    kept = copy.deepcopy(first)
    poison(first)
    second = call()
    assert same_leaves(second, kept)
    return second


def check(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """The value, both modes, and that the arguments stay as they are."""
    kept = copy.deepcopy(args)
    expected = plain(f, args)
    dots = direction(args, 1)
    value, value_dot = twice(lambda: gw.jvp(f, args, dots))
    assert same_leaves(value, expected)
    value, pull = gw.vjp(f, *args)
    assert same_leaves(value, expected)
    poison(value)
    bar = direction(expected, 2)
    bar_kept = copy.deepcopy(bar)
    bars = twice(lambda: pull(bar))
    assert same_leaves(args, kept)
    assert same_leaves(bar, bar_kept)
    assert same_leaves(dots, direction(args, 1))
    value = expected
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
        plain(f, args)
    except Exception as e:
        return e
    return None


def check_of_two(name: str, f: Callable[..., Any], args: Any, pair: str) -> None:
    """Check a program with one array in the places of two, where NumPy runs it."""
    args = PAIRS[pair](args)
    which = pair.partition(",")[0]
    impossible = {"the first": NOT_THE_FIRST, "the second": NOT_THE_SECOND}[which]
    error = raises(f, args)
    assert (error is not None) == (name in impossible), error
    if error is not None:
        return
    if (name, which) in REFUSED:
        with pytest.raises(gw.UnsupportedSyntax):
            gw.vjp(f, *args)
        return
    check(f, args)


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
    check_or_same_error(program.function, VARIANTS[variant](args))


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("program", OWN, ids=lambda p: p.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_own_programs_of_one_array_twice(program: Any, pair: str) -> None:
    args = tuple(program.samples[0].values())
    check_of_two(program.name, program.function, args, pair)


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
    if case["id"] in STORE_INTO_AN_ARGUMENT and variant == "read-only":
        plain_gradient = gw.grad(f)(*args)  # of a copy, which may be stored into
        assert same_leaves(gw.grad(f)(*VARIANTS[variant](args)), plain_gradient)
        return
    check_or_same_error(f, VARIANTS[variant](args))


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("case", list(corpus()))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_corpus_of_one_array_twice(case: Any, pair: str) -> None:
    if case["id"] in NOT_YET:
        pytest.skip(f"waits for {NOT_YET[case['id']]}")
    check_of_two(case["id"], *loaded(case), pair)


@pytest.mark.parametrize("case", list(corpus()))
def test_corpus_where_numpy_raises_at_what_it_warns_of(case: Any) -> None:
    if case["id"] in NOT_YET:
        pytest.skip(f"waits for {NOT_YET[case['id']]}")
    f, args = loaded(case)
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        check_or_same_error(f, args)
