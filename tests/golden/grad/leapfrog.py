import math


def leapfrog_grad(position, momentum, dt, steps):
    # forward sweep
    sin = math.sin(position)
    momentum -= 0.5 * dt * sin
    position_1 = position
    position_tape = []
    momentum_tape = []
    for _ in range(steps):
        position_tape.append(position_1)
        position_1 += dt * momentum
        momentum_tape.append(momentum)
        momentum -= dt * math.sin(position_1)
    sin_1 = math.sin(position_1)
    momentum += 0.5 * dt * sin_1
    # reverse sweep
    # programs.py  momentum += 0.5 * dt * math.sin(position)
    position_bar = sin_1 + 0.5 * momentum * dt * math.cos(position_1)
    momentum_bar = momentum
    dt_bar = 0.5 * sin_1 * momentum
    for _ in range(steps):
        # programs.py  momentum -= dt * math.sin(position)
        dt_bar -= momentum_bar * math.sin(position_1)
        position_bar -= dt * momentum_bar * math.cos(position_1)
        # programs.py  position += dt * momentum
        momentum = momentum_tape.pop()
        dt_bar += position_bar * momentum
        momentum_bar += dt * position_bar
        position_1 = position_tape.pop()
    position_bar -= 0.5 * momentum_bar * dt * math.cos(position)
    return position_bar, momentum_bar, dt_bar - 0.5 * sin * momentum_bar
