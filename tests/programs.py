"""Small user functions, with arguments to try them at.

Each is a program as users write them: numbers and native control flow, arrays that are
read and reduced.  The tests cross them with every transform, so a function added here
adds its tests, and the source of its derivatives to tests/golden.
"""

import ast
import cmath
import inspect
import math
import textwrap
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Program:
    """A function, and the arguments to try it at, each set by parameter name."""

    function: Callable[..., Any]
    samples: tuple[dict[str, Any], ...]

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def source(self) -> str:
        """The function and the helpers that it calls, decorators apart."""
        taken = [self.function]
        texts = []
        for f in taken:
            node = ast.parse(textwrap.dedent(inspect.getsource(f))).body[0]
            assert isinstance(node, ast.FunctionDef)
            node.decorator_list = []
            texts.append(ast.unparse(node))
            for n in ast.walk(node):
                other = f.__globals__.get(n.id) if isinstance(n, ast.Name) else None
                if isinstance(other, types.FunctionType) and other not in taken:
                    taken.append(other)
        return "\n".join(texts)


PROGRAMS: list[Program] = []


def wavy(*shape: int) -> np.ndarray:
    """An array of numbers between -1 and 1, none of them like another."""
    return np.sin(1.0 + 1.7 * np.arange(math.prod(shape))).reshape(shape)


def sample(**arguments: Any) -> Callable[[F], F]:
    """Register a function with arguments; above another sample, with those first."""

    def register(function: F) -> F:
        known = [p for p in PROGRAMS if p.function is function]
        for p in known:
            PROGRAMS.remove(p)
        samples = tuple(s for p in known for s in p.samples)
        PROGRAMS.append(Program(function, (arguments, *samples)))
        return function

    return register


# ---- formulas ----------------------------------------------------------------------


@sample(x=1.3)
def cubic(x):
    return 2.0 * x**3 - 5.0 * x + 1.0


@sample(x=0.7, y=-1.2)
def wave(x, y):
    r = math.sqrt(x * x + y * y)
    return math.sin(3.0 * r) / r + x * math.exp(-y)


@sample(phi_a=0.6, lam_a=0.2, phi_b=-0.3, lam_b=1.9)
def arc_distance(phi_a, lam_a, phi_b, lam_b):
    """The angle between two places on a sphere, all in radians."""
    sin_phi = math.sin(0.5 * (phi_b - phi_a))
    sin_lam = math.sin(0.5 * (lam_b - lam_a))
    h = sin_phi**2 + math.cos(phi_a) * math.cos(phi_b) * sin_lam**2
    return 2.0 * math.asin(math.sqrt(h))


@sample(resistance=120.0, inductance=0.4, capacitance=2e-5, omega=300.0)
def impedance(resistance, inductance, capacitance, omega):
    """The magnitude in ohms of a coil and a capacitor in series."""
    z = resistance + 1j * omega * inductance + 1.0 / (1j * omega * capacitance)
    return abs(z)


@sample(z=0.4 - 0.3j, c=0.2 + 0.5j)
def escape(z, c):
    for _ in range(4):
        z = z * z + c
    w = cmath.exp(-z)
    return w.real**2 + w.imag


@sample(spot=100.0, strike=105.0, rate=0.03, sigma=0.2, years=1.5)
def call_price(spot, strike, rate, sigma, years):
    """A European call option by the formula of Black and Scholes."""

    def normal(d):
        return 0.5 * (1.0 + math.erf(d / math.sqrt(2.0)))

    spread = sigma * math.sqrt(years)
    d = (math.log(spot / strike) + rate * years) / spread + 0.5 * spread
    return spot * normal(d) - strike * math.exp(-rate * years) * normal(d - spread)


# ---- branches ----------------------------------------------------------------------


@sample(x=50.0)
@sample(x=-50.0)
@sample(x=0.8)
def softplus(x):
    """log(1 + exp(x)), by ranges."""
    if x > 30.0:
        return x
    if x < -30.0:
        return math.exp(x)
    return math.log1p(math.exp(x))


@sample(income=80.0, bonus=3.0)
@sample(income=25.0, bonus=0.5)
def tax(income, bonus):
    base = income + (bonus if bonus < 1.0 else 0.6 * bonus)
    if base < 10.0:
        rate = 0.0
    elif 10.0 <= base < 50.0:
        rate = 0.2 + 0.001 * base
    else:
        rate = 0.4
    return rate * base


@sample(x=0.5, y=0.25)
@sample(x=-1.0, y=0.25)
def guarded(x, y):
    """`and` and `or` keep log from numbers that it does not take."""
    total = x * y
    if x > 0.0 and math.log(x) < y:
        total += y * math.log(x)
    if x <= 0.0 or math.sqrt(x) > y:
        total -= math.sin(x * y)
    return total


@sample(volume=2.0, gas=1.4)
def pressure(volume, gas):
    if volume <= 0.0:
        raise ValueError(f"a volume of {volume}")
    assert gas > 1.0, "no such gas"
    return 1.0 / volume**gas


@sample(x=0.3, sharpness=2.0)
@sample(x=0.3)
def smooth_step(x, sharpness=4.0):
    inside = min(max(x, 0.0), 1.0)
    rise = inside**sharpness
    fall = (1.0 - inside) ** sharpness
    return rise / (rise + fall)


# ---- loops -------------------------------------------------------------------------


@sample(a=7.0)
def cube_root(a):
    """Newton's method."""
    y = a
    while True:
        step = (y**3 - a) / (3.0 * y * y)
        y -= step
        if abs(step) < 1e-12 * abs(y):
            break
    return y


@sample(mean_anomaly=1.1, eccentricity=0.4)
def kepler(mean_anomaly, eccentricity):
    """The eccentric anomaly of an orbit, in radians."""
    e = mean_anomaly
    change = 1.0
    while abs(change) > 1e-13:
        change = (e - eccentricity * math.sin(e) - mean_anomaly) / (
            1.0 - eccentricity * math.cos(e)
        )
        e -= change
    return e


@sample(x=0.2)
def grow(x):
    """How often the loop runs depends on x."""
    steps = 0
    while x < 50.0:
        x = x * x + 0.5 if x < 5.0 else 3.0 * x
        steps += 1
    return x / steps


@sample(x=0.3, rate=3.7, n=0)
@sample(x=0.3, rate=3.7, n=6)
def logistic(x, rate, n):
    for _ in range(n):
        x = rate * x * (1.0 - x)
    return x


@sample(x=0.9)
def skipping(x):
    total = 0.0
    for i in range(4):
        part = 1.0
        for j in range(5):
            if (i + j) % 3 == 0:
                continue
            part *= x + 0.1 * j
            if part > 1.5:
                break
        total += part * (i + 1)
    return total


@sample(coefficients=np.array([2.0, -1.0, 0.5, 3.0]), x=1.3)
def horner(coefficients, x):
    value = 0.0
    for k in range(len(coefficients) - 1, -1, -1):
        value = value * x + coefficients[k]
    return value


@sample(x=0.8)
def exponential(x):
    """The series, to where its terms no longer count."""
    total = term = 1.0
    k = 1
    while abs(term := term * x / k) > 1e-12:
        total += term
        k += 1
    return total


@sample(terms=np.array([1.0, 2.0, 1.5, 4.0]))
def continued_fraction(terms):
    value = 0.0
    for a in reversed(terms):
        value = 1.0 / (a + value)
    return value


@sample(low=1.0, high=2.0, c=0.3)
def bisection(low, high, c):
    """The root of a cubic between two bounds, polished by one secant."""
    while high - low > 0.1:
        middle = 0.5 * (low + high)
        if middle**3 - middle - 1.0 - c * middle > 0.0:
            high = middle
        else:
            low = middle
    f_low = low**3 - low - 1.0 - c * low
    f_high = high**3 - high - 1.0 - c * high
    return low - f_low * (high - low) / (f_high - f_low)


@sample(x=2.0, n=0)
@sample(x=1.1, n=13)
def fast_power(x, n):
    if n == 0:
        return 1.0
    if n % 2:
        return x * fast_power(x, n - 1)
    half = fast_power(x, n // 2)
    return half * half


# ---- simulations -------------------------------------------------------------------


@sample(principal=1000.0, rate=0.05, payment=120.0, years=4)
def balance(principal, rate, payment, years):
    """What is left of a loan after some years of payments."""
    for _ in range(years):
        interest = principal * rate
        principal = principal + interest - payment
    return principal


GRAVITY = 9.81


@sample(speed=20.0, angle=0.8, drag=0.02)
def landing(speed, angle, drag):
    """How far a ball flies against the air, in metres."""
    dt = 0.1
    x, y = 0.0, 0.0
    vx, vy = speed * math.cos(angle), speed * math.sin(angle)
    while True:
        v = math.sqrt(vx * vx + vy * vy)
        vx -= dt * drag * v * vx
        vy -= dt * (GRAVITY + drag * v * vy)
        if y + dt * vy < 0.0:
            break
        x += dt * vx
        y += dt * vy
    return x - y * vx / vy


@sample(position=0.3, momentum=1.0, dt=0.1, steps=5)
def leapfrog(position, momentum, dt, steps):
    """The energy of a pendulum, after some steps."""
    momentum -= 0.5 * dt * math.sin(position)
    for _ in range(steps):
        position += dt * momentum
        momentum -= dt * math.sin(position)
    momentum += 0.5 * dt * math.sin(position)
    return 0.5 * momentum**2 - math.cos(position)


def oscillator(x, v, mu):
    """The right-hand side of van der Pol's equation."""
    return v, mu * (1.0 - x * x) * v - x


@sample(x=1.0, v=0.2, mu=0.8, dt=0.1)
def runge_kutta(x, v, mu, dt):
    """One step of the fourth order."""
    x1, v1 = oscillator(x, v, mu)
    x2, v2 = oscillator(x + 0.5 * dt * x1, v + 0.5 * dt * v1, mu)
    x3, v3 = oscillator(x + 0.5 * dt * x2, v + 0.5 * dt * v2, mu)
    x4, v4 = oscillator(x + dt * x3, v + dt * v3, mu)
    x += dt / 6.0 * (x1 + 2.0 * x2 + 2.0 * x3 + x4)
    v += dt / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4)
    return x * x + v * v


# ---- arrays, read ------------------------------------------------------------------


@sample(u=np.array([1.0, 2.0, -0.5]), v=np.array([0.3, -1.0, 4.0]))
def dot(u, v):
    total = 0.0
    for i in range(len(u)):
        total += u[i] * v[i]
    return total


@sample(xs=np.array([0.5, 1.5, -1.0]), ws=np.array([1.0, 0.2, 0.7]))
def moments(xs, ws):
    total = 0.0
    for k, (x, w) in enumerate(zip(xs, ws), start=1):
        total += w * x**k
    return total


@sample(a=np.array([0.3, 2.0, -1.0, 1.2]))
def log_sum_exp(a):
    largest = a[0]
    for i in range(1, len(a)):
        if a[i] > largest:
            largest = a[i]
    total = 0.0
    for x in a:
        total += math.exp(x - largest)
    return largest + math.log(total)


@sample(series=np.array([1.0, 2.5, 0.3, -1.0, 2.0, 0.7]), width=3)
def roughness(series, width):
    """The squares of what a moving average takes away."""
    total = 0.0
    for i in range(len(series) - width + 1):
        mean = np.sum(series[i : i + width]) / width
        total += (series[i] - mean) ** 2
    return total


@sample(mu=0.4, log_sigma=-0.2, data=np.array([0.1, 0.9, -0.4, 1.3]))
def log_likelihood(mu, log_sigma, data):
    """Of a normal distribution, up to a constant."""
    z = (data - mu) / np.exp(log_sigma)
    return -0.5 * np.sum(z**2) - len(data) * log_sigma


@sample(xs=np.array([0.5, 0.9, 1.4]), threshold=5.0)
@sample(xs=np.array([0.5, 0.9, 1.4]), threshold=0.7)
def first_above(xs, threshold):
    for x in xs:
        if x > threshold:
            found = x * threshold
            break
    else:
        found = threshold**2
    return found + xs[0]


# ---- arrays, whole -----------------------------------------------------------------


@sample(
    x=wavy(3, 2), y=wavy(3), W1=wavy(2, 4), b1=wavy(4), W2=wavy(4, 3), b2=wavy(3),
    W3=wavy(3), b3=0.2,
)  # fmt: skip
def three_layers(x, y, W1, b1, W2, b2, W3, b3):
    """The mean squared error of a small network."""
    h1 = np.tanh(x @ W1 + b1)
    h2 = np.tanh(h1 @ W2 + b2)
    error = h2 @ W3 + b3 - y
    return np.mean(error**2)


@sample(w=wavy(3), b=0.1, X=wavy(4, 3), y=np.array([1.0, 0.0, 0.0, 1.0]))
def log_loss(w, b, X, y):
    """Logistic regression, with a penalty."""
    z = X @ w + b
    return np.mean(np.logaddexp(0.0, z) - y * z) + 0.01 * np.sum(w * w)


@sample(logits=2.0 * wavy(4, 3), labels=np.array([2, 0, 1, 1]))
def cross_entropy(logits, labels):
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(labels)), labels])


@sample(points=wavy(5, 2), centres=0.8 * wavy(2, 2))
def k_means(points, centres):
    """The squares of the distances to the nearest centres."""
    offset = points[:, None, :] - centres[None, :, :]
    distance = np.sum(offset**2, axis=2)
    return np.sum(np.min(distance, axis=1))


@sample(x=wavy(3), xs=wavy(5), ys=wavy(5), width=0.7)
def kernel_regression(x, xs, ys, width):
    """An array out: the mean of the ys nearby."""
    weights = np.exp(-0.5 * ((x[:, None] - xs) / width) ** 2)
    return weights @ ys / np.sum(weights, axis=1)


@sample(x=wavy(4, 3), Wq=wavy(3, 2), Wk=-wavy(3, 2), Wv=wavy(3, 3))
def attention(x, Wq, Wk, Wv):
    """One head."""
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    scores = q @ k.T / math.sqrt(q.shape[1])
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    return weights @ v


@sample(x=wavy(3, 4), gain=1.0 + 0.1 * wavy(4), bias=0.1 * wavy(4))
def layer_norm(x, gain, bias):
    centred = x - np.mean(x, axis=-1, keepdims=True)
    variance = np.mean(centred**2, axis=-1, keepdims=True)
    return gain * centred / np.sqrt(variance + 1e-5) + bias


@sample(X=wavy(5, 3))
def explained(X):
    """How much of the variance lies along the first principal axis."""
    centred = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    along = centred @ vectors[:, -1]
    return along @ along / np.sum(values)


@sample(mean=wavy(2), F=wavy(2, 3), X=wavy(4, 2))
def gaussian(mean, F, X):
    """The log-likelihood of points, up to a constant."""
    L = np.linalg.cholesky(F @ F.T + np.eye(len(F)))
    z = np.linalg.solve(L, (X - mean).T)
    return -0.5 * np.sum(z**2) - len(X) * np.sum(np.log(np.diag(L)))


@sample(A=wavy(4, 2), b=wavy(4))
def least_squares(A, b):
    """What remains of b."""
    x = np.linalg.solve(A.T @ A, A.T @ b)
    r = A @ x - b
    return r @ r


@sample(signal=wavy(6), kernel=np.array([0.5, 1.0, -0.5]))
def convolution(signal, kernel):
    n = len(signal) - len(kernel) + 1
    out = np.zeros(n)
    for k in range(len(kernel)):
        out = out + kernel[k] * signal[k : k + n]
    return np.sum(out**2)


@sample(u=wavy(5), steps=3)
def heat(u, steps):
    """A rod whose ends are kept at their temperatures."""
    for _ in range(steps):
        bend = u[2:] - 2.0 * u[1:-1] + u[:-2]
        inner = u[1:-1] + 0.2 * bend
        u = np.concatenate((u[:1], inner, u[-1:]))
    return np.sum(u**2)


@sample(image=wavy(3, 4))
def edges(image):
    """The squares of the steps between neighbours, with a black border."""
    padded = np.pad(image, 1)
    across = np.diff(padded, axis=1)
    down = np.diff(padded, axis=0)
    return np.sum(across**2) + np.sum(down**2)


@sample(signal=wavy(8), cut=2)
def low_pass(signal, cut):
    """What a filter takes from a signal."""
    spectrum = np.fft.rfft(signal)
    kept = np.where(np.arange(len(spectrum)) <= cut, spectrum, 0.0)
    return np.sum((signal - np.fft.irfft(kept, len(signal))) ** 2)


@sample(X=wavy(4, 2), w=1.5 + wavy(4, 2))
def skewness(X, w):
    """Of each column, with weights."""
    w = w / np.sum(w, axis=0, keepdims=True)
    mean = np.sum(w * X, axis=0, keepdims=True)
    variance = np.sum(w * (X - mean) ** 2, axis=0)
    return np.sum(np.sum(w * (X - mean) ** 3, axis=0) / variance**1.5)


@sample(table=wavy(4, 2), tokens=np.array([2, 0, 2]), w=wavy(2))
def embedded(table, tokens, w):
    """Rows of a table, one of them twice."""
    scores = table[tokens] @ w
    return np.sum(scores**2)


@sample(xs=wavy(6), threshold=0.1)
def masked_mean(xs, threshold):
    kept = xs[xs > threshold]
    return kept.mean()


@sample(x=wavy(5), y=wavy(5), c=wavy(3))
def polynomial(x, y, c):
    features = np.stack([x, x**2, x**3], axis=1)
    r = features @ c - y
    return r @ r


@sample(prices=2.0 + wavy(6), width=3)
def volatility(prices, width):
    """The mean spread within a moving window."""
    returns = np.diff(np.log(prices))
    total = 0.0
    for i in range(len(returns) - width + 1):
        total += returns[i : i + width].std()
    return total / (len(returns) - width + 1)


@sample(xs=wavy(4, 3), W=0.5 * wavy(3, 3))
def recurrent(xs, W):
    h = np.zeros(len(W))
    for x in xs:
        h = np.tanh(W @ h + x)
    return np.sum(h**2)


@sample(weights=np.array([0.5, 0.3, 0.2]), returns=0.1 * wavy(5, 3), aversion=3.0)
def portfolio(weights, returns, aversion):
    """The mean return, less what its variance costs."""
    mean = returns.mean(axis=0)
    centred = returns - mean
    covariance = centred.T @ centred / (len(returns) - 1)
    return weights @ mean - 0.5 * aversion * (weights @ covariance @ weights)


@sample(logits=wavy(4), temperature=0.0)
@sample(logits=wavy(4), temperature=0.5)
def soft_maximum(logits, temperature):
    if temperature < 1e-3:
        return np.max(logits)
    scores = logits / temperature
    p = np.exp(scores - np.max(scores))
    return np.sum(p * logits) / np.sum(p)


# ---- functions ---------------------------------------------------------------------


def hill(x, centre, width=1.0):
    z = (x - centre) / width
    return math.exp(-z * z)


@sample(x=0.4, centre=-0.3)
def landscape(x, centre):
    """A helper called twice, by position and by keyword."""
    return hill(x, centre) - 0.5 * hill(x, width=2.0, centre=1.0 + centre)


@sample(a=0.0, b=1.2, stretch=0.7)
def arc_length(a, b, stretch):
    """A closure handed to a helper: Simpson's rule for the length of a sine."""

    def speed(t):
        return math.sqrt(1.0 + (stretch * math.cos(t)) ** 2)

    return simpson(speed, a, b, 4)


def simpson(f, a, b, n):
    h = (b - a) / n
    total = f(a) + f(b)
    for k in range(1, n):
        total += (4.0 if k % 2 else 2.0) * f(a + k * h)
    return h / 3.0 * total


@sample(x=0.6)
def pipeline(x):
    square = lambda t: t * t  # noqa: E731
    shifted = lambda t, by=1.0: t + by  # noqa: E731
    return shifted(square(shifted(x)), by=x)


def polar(x, y):
    return math.hypot(x, y), math.atan2(y, x)


@sample(point=(0.8, 0.6), turn=0.4)
def rotated(point, turn):
    """A tuple in, and tuples between."""
    r, angle = polar(*point)
    x, y = r * math.cos(angle + turn), r * math.sin(angle + turn)
    return x * y


@sample(x=0.8, y=0.6)
def spiral(x, y):
    """A tuple out."""
    r, angle = polar(x, y)
    return r * angle, angle / r


# ---- arrays that are stored into ---------------------------------------------------


@sample(u=np.array([1.0, 0.2, -0.4, 0.5, 2.0]), sweeps=3)
def gauss_seidel(u, sweeps):
    """Relaxation in place: a sweep reads what it has just written."""
    u = u.copy()
    for _ in range(sweeps):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1])
    return np.sum(u * u)


@sample(u=np.array([0.0, 0.3, 1.0, 0.2, 0.0]), rate=0.2, steps=3)
def diffusion(u, rate, steps):
    """A slice that is updated from its neighbours."""
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += rate * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


@sample(start=np.array([0.0, 0.3, 1.0, 0.2, 0.0]), steps=3, stiffness=0.4)
def vibrating_string(start, steps, stiffness):
    """Leapfrog steps with two buffers that change places."""
    now, before = start.copy(), start.copy()
    for _ in range(steps):
        for i in range(1, len(start) - 1):
            pull = now[i - 1] - 2.0 * now[i] + now[i + 1]
            before[i] = 2.0 * now[i] - before[i] + stiffness * pull * (1.0 + pull**2)
        now, before = before, now
    return np.sum(now**2)


@sample(heat=np.array([0.2, 1.0, 0.3, 0.1, 0.5]), sweeps=3)
def relaxed(heat, sweeps):
    """Jacobi sweeps: linear, so that nothing has to be kept."""
    new, old = np.zeros(len(heat)), np.zeros(len(heat))
    for _ in range(sweeps):
        new[1:-1] = 0.5 * (old[:-2] + old[2:] + heat[1:-1])
        new, old = old, new
    return np.sum(old**2)


@sample(x=np.array([0.5, -1.2, 2.0, 0.3]))
def prefix_sums(x):
    """Running totals in place."""
    totals = x.copy()
    for i in range(1, len(totals)):
        totals[i] += totals[i - 1]
    return np.sum(totals**2)


@sample(cost=np.array([[1.0, 3.0, 1.2], [1.5, 1.1, 4.0], [4.2, 2.1, 1.3]]))
def cheapest_path(cost):
    """A table of dynamic programming: right or down through a field."""
    rows, columns = cost.shape
    best = np.zeros((rows + 1, columns + 1))
    best[0, 1:] = best[1:, 0] = 9.0
    best[0, 1] = 0.0
    for i in range(rows):
        for j in range(columns):
            best[i + 1, j + 1] = cost[i, j] + min(best[i, j + 1], best[i + 1, j])
    return best[-1, -1]


@sample(a=np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]))
def log_determinant(a):
    """By the factor of Cholesky."""
    n = len(a)
    factor = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            rest = a[i, j] - np.dot(factor[i, :j], factor[j, :j])
            if i == j:
                factor[i, i] = np.sqrt(rest)
            else:
                factor[i, j] = rest / factor[j, j]
    return 2.0 * np.sum(np.log(np.diag(factor)))


@sample(signal=np.array([0.3, 1.0, -0.5, 0.8, 0.1]), weight=0.25)
def smoothed(signal, weight):
    """A helper that changes what it is given."""

    def smooth(values):
        for i in range(1, len(values) - 1):
            values[i] += weight * (values[i - 1] - 2.0 * values[i] + values[i + 1])

    work = signal.copy()
    smooth(work)
    return np.sum(work**2)


@sample(x=np.array([0.5, -1.2, 2.0, -0.3]), slope=0.1)
def leaky(x, slope):
    """Stores where a mask holds."""
    y = x.copy()
    y[y < 0.0] *= slope
    y[x > 1.0] = 1.0 + np.log(x[x > 1.0])
    return np.sum(y * y)


@sample(a=np.array([[0.3, 0.8, -0.2], [0.6, -0.7, 0.25], [1.1, 0.15, 0.35]]))
def pivoted(a):
    """The logarithm of the determinant, by elimination with row swaps."""
    u = a.copy()
    total = 0.0
    for k in range(len(u)):
        p = k + int(np.argmax(np.abs(u[k:, k])))
        if p != k:
            u[[k, p]] = u[[p, k]]
        for i in range(k + 1, len(u)):
            u[i, k:] -= u[i, k] / u[k, k] * u[k, k:]
        total += np.log(np.abs(u[k, k]))
    return total


@sample(
    charge=np.array([0.4, -0.9, 0.7, 1.3]),
    position=np.array([0.2, 1.7, 1.1, 2.9]),
    cells=4,
)
def deposit(charge, position, cells):
    """Particles give their charge to the two points of a grid beside them."""
    grid = np.zeros(cells)
    left = np.floor(position).astype(int)
    share = position - left
    np.add.at(grid, left, charge * (1.0 - share))
    np.add.at(grid, left + 1, charge * share)
    return np.sum(grid**3)


@sample(points=2.0 * wavy(3, 2), centres=wavy(2, 2), radius=0.4)
def shadows(points, centres, radius):
    """The brightness of the points that no disc hides from a light."""
    light = 0.0
    for point in points:
        ray = point + 2.0
        distance = np.sqrt(np.dot(ray, ray))
        ray /= distance
        if all(np.sum((c - np.dot(c, ray) * ray) ** 2) > radius for c in centres):
            light += 1.0 / distance**2
    return light


@sample(values=wavy(4), places=np.array([2, 0, 2, 1]))
def scattered(values, places):
    """Of several values at one place the last one stays."""
    table = np.ones(3)
    table[places] = values**2
    table[places] *= values
    return np.sum(table * np.sin(table))


# ---- lists -------------------------------------------------------------------------


@sample(x=0.9, n=6)
def appended(x, n):
    """A recurrence whose terms are kept in a list."""
    terms = [x, x * x]
    for k in range(2, n):
        terms.append(terms[k - 1] + x * terms[k - 2])
    return terms[-1] * terms[0]


@sample(spot=1.0, steps=5)
def american_put(spot, steps):
    """An option that may be exercised early, on a tree of prices."""
    strike = 1.1
    discount = 0.98
    up = 1.0 + 0.7 / steps
    down = 1.0 / up
    p = (1.02 - down) / (up - down)
    values = [max(strike - spot * up ** (2 * j - steps), 0.0) for j in range(steps + 1)]
    for i in range(steps - 1, -1, -1):
        for j in range(i + 1):
            hold = discount * (p * values[j + 1] + (1.0 - p) * values[j])
            values[j] = max(hold, strike - spot * up ** (2 * j - i))
    return values[0]


@sample(x=wavy(4), limit=0.1)
def selected(x, limit):
    """The squares of some elements, in a comprehension."""
    squares = [v * v for v in x if v > limit]
    total = squares[0]
    for k, s in enumerate(squares):
        total += s**2 * k
    return total * len(squares)


@sample(x=0.9, n=4)
def triangle(x, n):
    """Rows of Pascal's triangle, each a new list under the old one's name."""
    row = [x]
    for _ in range(n):
        new = [1.0]
        for j in range(len(row) - 1):
            new.append(row[j] + x * row[j + 1])
        new.append(x * row[-1])
        row = new
    return sum(row)


@sample(x=wavy(4))
def monotone(x):
    """A stack from which goes what is larger than what comes."""
    stack = [x[0]]
    for v in x:
        while stack and stack[-1] > v:
            stack.pop()
        stack.append(v * v)
    return sum(stack) * len(stack)
