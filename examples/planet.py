"""Find a planet: fit the speed of a star to observations, through Kepler's equation.

    python examples/planet.py

A planet pulls its star back and forth.  Where it stands on its ellipse follows from
Kepler's equation, E - e sin E = M, solved by Newton's method in a while loop.  The
derivative goes through the loop, and so the fit is five steps of Gauss and Newton.
"""

import math

import numpy as np

import gradwright as gw

NAMES = ("period", "speed", "eccentricity", "argument", "phase")


def eccentric_anomaly(mean_anomaly, e):
    """The solution E of E - e sin E = M, all angles in radians."""
    E = mean_anomaly + e * math.sin(mean_anomaly)
    error = 1.0
    while abs(error) > 1e-13:
        error = (E - e * math.sin(E) - mean_anomaly) / (1.0 - e * math.cos(E))
        E -= error
    return E


def velocity(day, period, speed, e, argument, phase):
    """The star's speed towards us, in m/s, on a day.

    period: of the planet, in days.  speed: half the range, in m/s.  e: eccentricity.
    argument: of the point nearest to the star.  phase: on day 0; both in radians.
    """
    E = eccentric_anomaly(2.0 * math.pi * day / period + phase, e)
    angle = 2.0 * math.atan2(
        math.sqrt(1.0 + e) * math.sin(E / 2.0), math.sqrt(1.0 - e) * math.cos(E / 2.0)
    )
    return speed * (math.cos(angle + argument) + e * math.cos(argument))


def fit(days, observed, guess, steps):
    """Gauss and Newton: each step solves the least squares of the linearised model."""
    row = gw.value_and_grad(velocity, argnums=(1, 2, 3, 4, 5))
    orbit = np.array(guess)
    for k in range(steps):
        values, gradients = zip(*(row(d, *orbit.tolist()) for d in days), strict=True)
        residual = observed - np.array(values)
        print(f"step {k}   off by {math.sqrt(np.mean(residual**2)):9.6f} m/s")
        orbit += np.linalg.lstsq(np.array(gradients), residual)[0]
    return orbit


def main():
    true = (4.23, 55.9, 0.32, 1.1, 0.4)
    rng = np.random.default_rng(1)
    days = np.sort(rng.uniform(0.0, 30.0, 40)).tolist()
    noise = 0.5 * rng.standard_normal(40)
    observed = np.array([velocity(d, *true) for d in days]) + noise
    found = fit(days, observed, guess=(4.2, 50.0, 0.2, 1.0, 0.5), steps=6)
    print()
    for name, f, t in zip(NAMES, found, true, strict=True):
        print(f"{name:14s}{f:9.4f}   true {t:9.4f}")


if __name__ == "__main__":
    main()
