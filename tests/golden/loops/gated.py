import numpy as np


def gated_grad(xs, W, U):
    # forward sweep
    c = np.zeros(2)
    h = np.zeros(2)
    x = np.empty(W.shape[1])
    matmul_1 = np.empty(8)
    z = np.empty(8)
    c_bar = np.zeros(2)
    h_bar = np.empty(2)
    W_bar = np.zeros((8, W.shape[1]))
    U_bar = np.zeros((8, 2))
    total_1 = np.empty(2)
    i_bar = np.empty(2)
    g_bar = np.empty(2)
    f_bar = np.empty(2)
    z_bar = np.empty(8)
    exp_tape = np.empty((len(xs), 2))
    tanh_tape = np.empty((len(xs), 2))
    exp_tape_1 = np.empty((len(xs), 2))
    c_tape = np.empty((len(xs), 2))
    exp_tape_2 = np.empty((len(xs), 2))
    tanh_tape_1 = np.empty((len(xs), 2))
    h_tape = np.empty((len(xs), 2))
    z_top = 0
    exp_top = 0
    tanh_top = 0
    exp_top_1 = 0
    c_top = 0
    exp_top_2 = 0
    tanh_top_1 = 0
    h_top = 0
    for i in range(len(xs)):
        for i_2 in range(W.shape[1]):
            x[i_2] = xs[i, i_2]
        if 8 * W.shape[1] >= 4096:
            matmul_1[...] = W @ x
        else:
            for i_2 in range(8):
                matmul = np.float64(0.0)
                for j in range(W.shape[1]):
                    matmul += W[i_2, j] * x[j]
                matmul_1[i_2] = matmul
        for i_2 in range(8):
            matmul = np.float64(0.0)
            for j in range(2):
                matmul += U[i_2, j] * h[j]
            z[i_2] = matmul_1[i_2] + matmul
        z_top += 1
        for i_2 in range(2):
            exp = np.exp(-z[i_2 + 2])
            exp_tape_1[exp_top_1, i_2] = exp
            tanh = np.tanh(z[i_2 + 6])
            tanh_tape[tanh_top, i_2] = tanh
            exp_1 = np.exp(-z[i_2])
            exp_tape[exp_top, i_2] = exp_1
            c_1 = c[i_2]
            c_tape[c_top, i_2] = c_1
            total = c_1 / (1.0 + exp) + tanh / (1.0 + exp_1)
            c[i_2] = total
            tanh_1 = np.tanh(total)
            tanh_tape_1[tanh_top_1, i_2] = tanh_1
            exp_2 = np.exp(-z[i_2 + 4])
            exp_tape_2[exp_top_2, i_2] = exp_2
            h_tape[h_top, i_2] = h[i_2]
            h[i_2] = tanh_1 / (1.0 + exp_2)
        exp_top_1 += 1
        tanh_top += 1
        exp_top += 1
        c_top += 1
        tanh_top_1 += 1
        exp_top_2 += 1
        h_top += 1
    # reverse sweep
    for i_2 in range(2):
        h_bar[i_2] = 2.0 * h[i_2]
    for i_1 in reversed(range(len(xs))):
        tanh_top_1 -= 1
        exp_top_2 -= 1
        c_top -= 1
        exp_top_1 -= 1
        tanh_top -= 1
        exp_top -= 1
        z_top -= 1
        h_top -= 1
        for i_2 in range(2):
            total_2 = 1.0 + exp_tape_2[exp_top_2, i_2]
            total_1[i_2] = total_2
            tanh_2 = tanh_tape_1[tanh_top_1, i_2]
            c_bar[i_2] += h_bar[i_2] / total_2 * (1 - tanh_2 * tanh_2)
            c_2 = c_tape[c_top, i_2]
            c[i_2] = c_2
            exp_3 = exp_tape_1[exp_top_1, i_2]
            total_3 = 1.0 + exp_3
            exp_4 = exp_tape[exp_top, i_2]
            total_4 = 1.0 + exp_4
            tanh_3 = tanh_tape[tanh_top, i_2]
            c_bar_1 = c_bar[i_2]
            i_bar[i_2] = exp_4 * tanh_3 / total_4 / total_4 * c_bar_1
            g_bar[i_2] = c_bar_1 / total_4 * (1 - tanh_3 * tanh_3)
            f_bar[i_2] = exp_3 * c_2 / total_3 / total_3 * c_bar_1
            c_bar[i_2] = c_bar_1 / total_3
        for i_2 in range(8):
            z_bar[i_2] = np.float64(0.0)
        for i_2 in range(2):
            z_bar[i_2 + 6] += g_bar[i_2]
        for i_2 in range(2):
            total_i = total_1[i_2]
            tanh_4 = tanh_tape_1[tanh_top_1, i_2]
            o_bar = exp_tape_2[exp_top_2, i_2] * tanh_4 / total_i / total_i * h_bar[i_2]
            z_bar[i_2 + 4] += o_bar
        for i_2 in range(2):
            z_bar[i_2 + 2] += f_bar[i_2]
        for i_2 in range(2):
            z_bar[i_2] += i_bar[i_2]
            h[i_2] = h_tape[h_top, i_2]
        for i_2 in range(8):
            for j in range(2):
                U_bar[i_2, j] += z_bar[i_2] * h[j]
        for i_2 in range(2):
            h_bar_1 = np.float64(0.0)
            for j in range(8):
                h_bar_1 += U[j, i_2] * z_bar[j]
            h_bar[i_2] = h_bar_1
        for i_2 in range(8):
            for j in range(W.shape[1]):
                W_bar[i_2, j] += z_bar[i_2] * xs[i_1, j]
    return W_bar, U_bar
