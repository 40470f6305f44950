import math


def leapfrog_jvp(position, momentum, dt, steps, position_dot, momentum_dot, dt_dot):
    product = 0.5 * dt
    product_1 = 0.5 * dt_dot
    sin = math.sin(position)
    total = sin * product_1 + product * (math.cos(position) * position_dot)
    momentum_dot = momentum_dot - total
    momentum = momentum - product * sin
    for _ in range(steps):
        position_dot += momentum * dt_dot + dt * momentum_dot
        position += dt * momentum
        sin = math.sin(position)
        total = sin * dt_dot + dt * (math.cos(position) * position_dot)
        momentum_dot -= total
        momentum -= dt * sin
    product = 0.5 * dt
    sin = math.sin(position)
    total = sin * product_1 + product * (math.cos(position) * position_dot)
    momentum = momentum + product * sin
    momentum_dot = momentum_dot + total
    total = 0.5 * (2 * momentum * momentum_dot) + math.sin(position) * position_dot
    return 0.5 * momentum ** 2 - math.cos(position), total
