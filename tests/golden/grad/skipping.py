def skipping_grad(x):
    x_bar = 0.0
    for i in range(4):
        part = 1.0
        part_tape = []
        trips = 0
        for j in range(5):
            trips += 1
            if (i + j) % 3 != 0:
                part_tape.append(part)
                part *= x + 0.1 * j
                if part > 1.5:
                    break
        # programs.py  total += part * (i + 1)
        part_bar = 1.0 * (i + 1)
        for j in reversed(range(trips)):
            if (i + j) % 3 != 0:
                # programs.py  part *= x + 0.1 * j
                part = part_tape.pop()
                x_bar += part_bar * part
                part_bar *= x + 0.1 * j
    return x_bar
