import math


def landing_grad(speed, angle, drag, *, GRAVITY):
    # forward sweep
    dt = 0.1
    y = 0.0
    cos = math.cos(angle)
    vx = speed * cos
    sin = math.sin(angle)
    vy = speed * sin
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
        if y + dt * vy < 0.0:
            break
        y += dt * vy
    # reverse sweep
    # programs.py  return x - y * vx / vy
    vy_bar = y * vx / vy / vy
    y_bar = -vx / vy
    vx_bar = -y / vy
    drag_bar = 0.0
    for trip in reversed(range(trips)):
        if trip != trips - 1:
            # programs.py  x += dt * vx
            vx_bar += dt
            # programs.py  y += dt * vy
            vy_bar += dt * y_bar
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
        drag_bar -= dt * v * product_2
        # programs.py  v = math.sqrt(vx * vx + vy * vy)
        total = drag * product_1 + product_2 * product_3
        product_4 = total * (0.5 / v if v != 0 else math.inf)
        vy_bar -= product * drag * v + 2.0 * product_4 * vy
        vx_bar -= vx_bar * product_3 * v + 2.0 * product_4 * vx
    angle_bar = speed * vy_bar * cos - sin * speed * vx_bar
    return sin * vy_bar + cos * vx_bar, angle_bar, drag_bar
