def triangle_grad(x, n):
    # forward sweep
    row = [x]
    row_length_tape = []
    row_tape = []
    for _ in range(n):
        new = [1.0]
        for j in range(len(row) - 1):
            new.append(row[j] + x * row[j + 1])
        new.append(x * row[-1])
        row_tape.append(row)
        row_length_tape.append(len(row))
        row = new
    # reverse sweep
    row_bar = [0.0] * len(row)
    for i in range(len(row)):
        # programs.py  return sum(row)
        row_bar[i] += 1.0
    x_bar = 0.0
    for _ in range(n):
        # programs.py  row = new
        new_bar = row_bar
        row_bar = [0.0] * row_length_tape.pop()
        # programs.py  new.append(x * row[-1])
        product_bar = new_bar.pop()
        row = row_tape.pop()
        x_bar += product_bar * row[-1]
        row_bar[-1] += x * product_bar
        for j in reversed(range(len(row) - 1)):
            # programs.py  new.append(row[j] + x * row[j + 1])
            total_bar = new_bar.pop()
            x_bar += total_bar * row[j + 1]
            row_bar[j + 1] += x * total_bar
            row_bar[j] += total_bar
    return x_bar + row_bar.pop()
