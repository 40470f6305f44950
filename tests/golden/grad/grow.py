def grow_grad(x):
    # forward sweep
    steps = 0
    x_tape = []
    while x < 50.0:
        x_tape.append(x)
        x = x * x + 0.5 if x < 5.0 else 3.0 * x
        steps += 1
    # reverse sweep
    # programs.py  return x / steps
    x_bar = 1 / steps
    while x_tape:
        # programs.py  x = x * x + 0.5 if x < 5.0 else 3.0 * x
        x = x_tape.pop()
        if x < 5.0:
            x_bar = 2.0 * x_bar * x
        else:
            x_bar = 3.0 * x_bar
    return x_bar
