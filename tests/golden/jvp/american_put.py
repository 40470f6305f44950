def american_put_jvp(spot, steps, spot_dot):
    strike = 1.1
    discount = 0.98
    up = 1.0 + 0.7 / steps
    down = 1.0 / up
    p = (1.02 - down) / (up - down)
    values = []
    values_dot = []
    for j in range(steps + 1):
        power = up ** (2 * j - steps)
        difference = strike - spot * power
        values_dot.append(-(0.0 if 0.0 > difference else 1.0) * power * spot_dot)
        values.append(max(difference, 0.0))
    for i in range(steps - 1, -1, -1):
        for j in range(i + 1):
            difference_1 = 1.0 - p
            hold = discount * (p * values[j + 1] + difference_1 * values[j])
            hold_dot = discount * (p * values_dot[j + 1] + difference_1 * values_dot[j])
            power_1 = up ** (2 * j - i)
            difference_2 = strike - spot * power_1
            hold_is_below = difference_2 > hold
            product = (1.0 if hold_is_below else 0.0) * power_1 * spot_dot
            values_dot[j] = (0.0 if hold_is_below else 1.0) * hold_dot - product
            values[j] = max(hold, difference_2)
    return values[0], values_dot[0]
