def runge_kutta_grad(x, v, mu, dt):
    # forward sweep
    difference = 1.0 - x * x
    v1 = mu * difference * v - x
    total = x + 0.5 * dt * v
    x2 = v + 0.5 * dt * v1
    product = mu * (1.0 - total * total)
    v2 = product * x2 - total
    total_1 = x + 0.5 * dt * x2
    x3 = v + 0.5 * dt * v2
    product_1 = mu * (1.0 - total_1 * total_1)
    v3 = product_1 * x3 - total_1
    total_2 = x + dt * x3
    x4 = v + dt * v3
    product_2 = mu * (1.0 - total_2 * total_2)
    v4 = product_2 * x4 - total_2
    total_3 = v + 2.0 * x2 + 2.0 * x3 + x4
    x_1 = x + dt / 6.0 * total_3
    total_4 = v1 + 2.0 * v2 + 2.0 * v3 + v4
    v_1 = v + dt / 6.0 * total_4
    # reverse sweep
    # programs.py  v += dt / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4)
    v_bar = 2.0 * v_1
    total_bar = v_bar * dt / 6.0
    # programs.py  x += dt / 6.0 * (x1 + 2.0 * x2 + 2.0 * x3 + x4)
    x_bar = 2.0 * x_1
    total_bar_1 = x_bar * dt / 6.0
    # programs.py  x4, v4 = oscillator(x + dt * x3, v + dt * v3, mu)
    x4_bar = total_bar_1 + product_2 * total_bar
    total_5 = total_bar + 2.0 * total_2 * mu * x4 * total_bar
    # programs.py  return v, mu * (1.0 - x * x) * v - x
    v3_bar = 2.0 * total_bar + dt * x4_bar
    # programs.py  x3, v3 = oscillator(x + 0.5 * dt * x2, v + 0.5 * dt * v2, mu)
    x3_bar = 2.0 * total_bar_1 - dt * total_5 + product_1 * v3_bar
    total_6 = v3_bar + 2.0 * total_1 * mu * x3 * v3_bar
    # programs.py  return v, mu * (1.0 - x * x) * v - x
    v2_bar = 2.0 * total_bar + 0.5 * x3_bar * dt
    # programs.py  x2, v2 = oscillator(x + 0.5 * dt * x1, v + 0.5 * dt * v1, mu)
    x2_bar = 2.0 * total_bar_1 - 0.5 * total_6 * dt + product * v2_bar
    total_7 = v2_bar + 2.0 * total * mu * x2 * v2_bar
    # programs.py  return v, mu * (1.0 - x * x) * v - x
    v1_bar = total_bar + 0.5 * x2_bar * dt
    product_bar = v * v1_bar
    x_bar_1 = x_bar - total_5 - total_6 - total_7 - v1_bar - 2.0 * x * mu * product_bar
    dt_bar = total_4 * v_bar / 6.0 + total_3 * x_bar / 6.0 + v3 * x4_bar - x3 * total_5
    v_bar += total_bar_1 + x4_bar + x3_bar + x2_bar - 0.5 * total_7 * dt
    dt_bar += 0.5 * v2 * x3_bar - 0.5 * x2 * total_6 + 0.5 * v1 * x2_bar
    product_3 = (1.0 - total_2 * total_2) * x4 * total_bar
    mu_bar = product_3 + (1.0 - total_1 * total_1) * x3 * v3_bar
    mu_bar += (1.0 - total * total) * x2 * v2_bar + difference * product_bar
    return x_bar_1, v_bar + mu * difference * v1_bar, mu_bar, dt_bar - 0.5 * v * total_7
