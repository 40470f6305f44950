def american_put_grad(spot, steps):
    # forward sweep
    strike = 1.1
    discount = 0.98
    up = 1.0 + 0.7 / steps
    down = 1.0 / up
    p = (1.02 - down) / (up - down)
    values = []
    power_tape_1 = []
    for j in range(steps + 1):
        power = up ** (2 * j - steps)
        power_tape_1.append(power)
        values.append(max(strike - spot * power, 0.0))
    power_tape = []
    values_tape = []
    for i in range(steps - 1, -1, -1):
        for j in range(i + 1):
            hold = discount * (p * values[j + 1] + (1.0 - p) * values[j])
            power_1 = up ** (2 * j - i)
            power_tape.append(power_1)
            values_tape.append(values[j])
            values[j] = max(hold, strike - spot * power_1)
    # reverse sweep
    values_bar = [0.0] * len(values)
    # programs.py  return values[0]
    values_bar[0] += 1.0
    spot_bar = 0.0
    for i in reversed(range(steps - 1, -1, -1)):
        for j in reversed(range(i + 1)):
            # programs.py  values[j] = max(hold, strike - spot * up ** (2 * j - i))
            values_bar_1 = values_bar[j]
            values_bar[j] = 0.0
            values[j] = values_tape.pop()
            difference = 1.0 - p
            hold = discount * (p * values[j + 1] + difference * values[j])
            power_2 = power_tape.pop()
            hold_is_below = strike - spot * power_2 > hold
            spot_bar -= power_2 * values_bar_1 * (1.0 if hold_is_below else 0.0)
            # programs.py  hold = discount * (p * values[j + 1] + (1.0 - p) * va ...
            total_bar = discount * values_bar_1 * (0.0 if hold_is_below else 1.0)
            values_bar[j] += total_bar * difference
            values_bar[j + 1] += p * total_bar
    for _ in range(steps + 1):
        # programs.py  values = [max(strike - spot * up ** (2 * j - steps), 0.0) ...
        power_3 = power_tape_1.pop()
        slope = 0.0 if 0.0 > strike - spot * power_3 else 1.0
        spot_bar -= power_3 * values_bar.pop() * slope
    return spot_bar
