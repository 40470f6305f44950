def skipping_jvp(x, x_dot):
    total = 0.0
    total_dot = 0.0
    for i in range(4):
        part = 1.0
        part_dot = 0.0
        for j in range(5):
            if (i + j) % 3 != 0:
                total_1 = x + 0.1 * j
                part_dot = total_1 * part_dot + part * x_dot
                part *= total_1
                if part > 1.5:
                    break
        total_dot += (i + 1) * part_dot
        total += part * (i + 1)
    return total, total_dot
