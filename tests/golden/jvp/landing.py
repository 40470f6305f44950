import math


def landing_jvp(speed, angle, drag, speed_dot, angle_dot, drag_dot, *, GRAVITY):
    dt = 0.1
    x = 0.0
    y = 0.0
    cos = math.cos(angle)
    sin = math.sin(angle)
    vx = speed * cos
    vx_dot = cos * speed_dot - speed * sin * angle_dot
    vy = speed * sin
    vy_dot = sin * speed_dot + speed * cos * angle_dot
    x_dot = 0.0
    y_dot = 0.0
    while True:
        v = math.sqrt(vx * vx + vy * vy)
        total_dot = 2.0 * vx * vx_dot + 2.0 * vy * vy_dot
        v_dot = (0.5 / v if v != 0 else math.inf) * total_dot
        product = dt * drag
        product_1 = product * v
        vx_dot -= vx * (v * dt * drag_dot + product * v_dot) + product_1 * vx_dot
        vx -= product_1 * vx
        product_2 = drag * v
        vy_dot -= dt * (vy * (v * drag_dot + drag * v_dot) + product_2 * vy_dot)
        vy -= dt * (GRAVITY + product_2 * vy)
        if y + dt * vy < 0.0:
            break
        x_dot += dt * vx_dot
        x += dt * vx
        y_dot += dt * vy_dot
        y += dt * vy
    quotient = y * vx / vy
    difference_dot = x_dot - ((vx * y_dot + y * vx_dot) / vy - quotient / vy * vy_dot)
    return x - quotient, difference_dot
