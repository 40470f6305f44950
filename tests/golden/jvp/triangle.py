def triangle_jvp(x, n, x_dot):
    row = [x]
    row_dot = [x_dot]
    for _ in range(n):
        new = [1.0]
        new_dot = [0.0]
        for j in range(len(row) - 1):
            row_j = row[j + 1]
            new_dot.append(row_dot[j] + (row_j * x_dot + x * row_dot[j + 1]))
            new.append(row[j] + x * row_j)
        row_item = row[-1]
        new_dot.append(row_item * x_dot + x * row_dot[-1])
        new.append(x * row_item)
        row_dot = new_dot
        row = new
    result = 0.0
    result_dot = 0.0
    for i in range(len(row)):
        result_dot += row_dot[i]
        result += row[i]
    return result, result_dot
