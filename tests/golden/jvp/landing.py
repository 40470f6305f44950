import math


def landing_jvp(speed, angle, drag, speed_dot, angle_dot, drag_dot, *, GRAVITY):
    dt = 0.1
    cos = math.cos(angle)
    sin = math.sin(angle)
    vx_dot = cos * speed_dot - speed * (math.sin(angle) * angle_dot)
    vx = speed * cos
    vy_dot = sin * speed_dot + speed * (math.cos(angle) * angle_dot)
    vy = speed * sin
    x = 0.0
    y = 0.0
    x_dot = 0.0
    y_dot = 0.0
    while True:
        v = math.sqrt(vx * vx + vy * vy)
        v_dot = (0.5 / v if v != 0 else math.inf) * (2.0 * (vx * vx_dot) + 2.0 * (vy *
            vy_dot))
        product = dt * drag
        product_1 = product * v
        total = vx * (v * (dt * drag_dot) + product * v_dot) + product_1 * vx_dot
        vx_dot -= total
        vx -= product_1 * vx
        product = drag * v
        total = vy * (v * drag_dot + drag * v_dot) + product * vy_dot
        vy_dot -= dt * total
        vy -= dt * (GRAVITY + product * vy)
        product = dt * vy_dot
        lt = y + dt * vy < 0.0
        if lt:
            break
        x_dot += dt * vx_dot
        x += dt * vx
        y_dot += product
        y += dt * vy
    quotient = y * vx / vy
    difference = (vx * y_dot + y * vx_dot) / vy - quotient / vy * vy_dot
    return x - quotient, x_dot - difference
