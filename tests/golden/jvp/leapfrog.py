import math


def leapfrog_jvp(position, momentum, dt, steps, position_dot, momentum_dot, dt_dot):
    sin = math.sin(position)
    momentum -= 0.5 * dt * sin
    momentum_dot -= 0.5 * sin * dt_dot + 0.5 * dt * math.cos(position) * position_dot
    for _ in range(steps):
        position_dot += momentum * dt_dot + dt * momentum_dot
        position += dt * momentum
        sin_1 = math.sin(position)
        momentum_dot -= sin_1 * dt_dot + dt * math.cos(position) * position_dot
        momentum -= dt * sin_1
    sin_2 = math.sin(position)
    cos = math.cos(position)
    momentum += 0.5 * dt * sin_2
    momentum_dot += 0.5 * sin_2 * dt_dot + 0.5 * dt * cos * position_dot
    return 0.5 * momentum**2 - cos, momentum * momentum_dot + sin_2 * position_dot
