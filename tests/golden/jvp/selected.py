def selected_jvp(x, limit, x_dot, limit_dot):
    squares = []
    squares_dot = []
    for v, v_dot in zip(x, x_dot):
        if v > limit:
            squares_dot.append(2.0 * v * v_dot)
            squares.append(v * v)
    total = squares[0]
    total_dot = squares_dot[0]
    for k in range(len(squares)):
        s = squares[k]
        total_dot += 2.0 * k * s * squares_dot[k]
        total += s**2 * k
    count = len(squares)
    return total * count, count * total_dot
