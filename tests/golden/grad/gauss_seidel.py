def gauss_seidel_grad(u, sweeps):
    # forward sweep
    u_1 = u.copy()
    for _ in range(sweeps):
        for i in range(1, len(u) - 1):
            u_1[i] = 0.5 * (u_1[i - 1] + u_1[i + 1])
    # reverse sweep
    # programs.py  return np.sum(u * u)
    u_bar = 2.0 * u_1
    for _ in range(sweeps):
        for i in reversed(range(1, len(u) - 1)):
            # programs.py  u[i] = 0.5 * (u[i - 1] + u[i + 1])
            u_bar_1 = u_bar[i]
            u_bar[i] = 0.0
            total_bar = 0.5 * u_bar_1
            u_bar[i + 1] += total_bar
            u_bar[i - 1] += total_bar
    return u_bar
