"""A function of thirty lines, as users write them: a glider in a column of air."""

import math


def height_lost(speed, angle, drag, steps):
    """The height that a glider loses, in metres."""
    x, y = 0.0, 100.0
    vx = speed * math.cos(angle)
    vy = speed * math.sin(angle)
    lift = 0.5
    lowest = y
    for k in range(steps):
        wind = 2.0 * math.sin(0.1 * x)
        dx = vx - wind
        dy = vy
        air_speed = math.sqrt(dx * dx + dy * dy)
        if y < 20.0:
            density = 1.2
        elif y < 80.0:
            density = 1.2 - 0.001 * (y - 20.0)
        else:
            density = 1.14 * math.exp(-(y - 80.0) / 8000.0)
        ax = -drag * density * air_speed * dx
        ay = -9.81 - drag * density * air_speed * dy
        if k % 2 == 0:
            ay += lift * air_speed * density
        vx += 0.01 * ax
        vy += 0.01 * ay
        x += 0.01 * vx
        y += 0.01 * vy
        lowest = min(lowest, y)
        if y < 0.0:
            break
    return 100.0 - lowest + 0.01 * abs(x)
