"""A ball thrown through moving air, followed until it lands.

The air thins with height, and the wind against the ball freshens up to 10 m.  The
flight is integrated by the semi-implicit Euler rule, in plain Python: a while loop, a
branch and two helpers.
"""

import math

GRAVITY = 9.81  # m/s²
STEP = 0.01  # s


def wind(height):
    """The wind at a height of so many metres, in m/s; a headwind is negative."""
    if height < 10.0:
        return -0.6 * height
    return -6.0


def acceleration(y, vx, vy, drag):
    """The pull of gravity and the drag of the air, in m/s²."""
    ux = vx - wind(y)
    k = drag * math.exp(-y / 8500.0) * math.sqrt(ux * ux + vy * vy)
    return -k * ux, -k * vy - GRAVITY


def landing(speed, angle, drag):
    """How far the ball flies, in metres.

    speed: of the throw, in m/s.  angle: above the horizon, in radians.  drag: of the
    ball, in 1/m.
    """
    x, y = 0.0, 1.5
    vx, vy = speed * math.cos(angle), speed * math.sin(angle)
    while y > 0.0:
        ax, ay = acceleration(y, vx, vy, drag)
        vx += STEP * ax
        vy += STEP * ay
        x += STEP * vx
        y += STEP * vy
    return x - y * vx / vy  # back along the last step, to the ground


def path(speed, angle, drag):
    """The points (x, y) of the same flight, in metres, for drawing."""
    x, y = 0.0, 1.5
    vx, vy = speed * math.cos(angle), speed * math.sin(angle)
    points = [(x, y)]
    while y > 0.0:
        ax, ay = acceleration(y, vx, vy, drag)
        vx += STEP * ax
        vy += STEP * ay
        x += STEP * vx
        y += STEP * vy
        points.append((x, y))
    return points
