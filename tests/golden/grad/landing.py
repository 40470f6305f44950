import math


def landing_grad(speed, angle, drag, *, GRAVITY):
    # forward sweep
    dt = 0.1
    cos = math.cos(angle)
    sin = math.sin(angle)
    vx = speed * cos
    vy = speed * sin
    y = 0.0
    vx_tape = []
    v_tape = []
    vy_tape = []
    trips = 0
    while True:
        trips += 1
        v = math.sqrt(vx * vx + vy * vy)
        v_tape.append(v)
        vx_tape.append(vx)
        vx -= dt * drag * v * vx
        vy_tape.append(vy)
        vy -= dt * (GRAVITY + drag * v * vy)
        lt = y + dt * vy < 0.0
        if lt:
            break
        y += dt * vy
    # reverse sweep
    # programs.py  return x - y * vx / vy
    quotient = 1 / vy
    vy_bar = y * vx / vy / vy
    y_bar = -(vx * quotient)
    vx_bar = -(y * quotient)
    drag_bar = 0.0
    for trip in reversed(range(trips)):
        vy_bar_1 = 0.0
        if not trip == trips - 1:
            # programs.py  y += dt * vy
            vy_bar_1 += dt * y_bar
            # programs.py  x += dt * vx
            vx_bar += dt
        # programs.py  if y + dt * vy < 0.0:
        vy_bar += vy_bar_1
        # programs.py  vy -= dt * (GRAVITY + drag * v * vy)
        product = dt * vy_bar
        vy = vy_tape.pop()
        product_1 = product * vy
        v = v_tape.pop()
        drag_bar -= v * product_1
        # programs.py  vx -= dt * drag * v * vx
        vx = vx_tape.pop()
        product_2 = vx_bar * vx
        product_3 = dt * drag
        drag_bar -= dt * (v * product_2)
        # programs.py  v = math.sqrt(vx * vx + vy * vy)
        product_1 = (drag * product_1 + product_2 * product_3) * (0.5 / v if v != 0 else
            math.inf)
        product_2 = product_1 * vy
        vy_bar -= product * (drag * v) + product_2 + product_2
        product = product_1 * vx
        vx_bar -= vx_bar * (product_3 * v) + product + product
    angle_bar = speed * vy_bar * math.cos(angle) - math.sin(angle) * (speed * vx_bar)
    return sin * vy_bar + cos * vx_bar, angle_bar, drag_bar
