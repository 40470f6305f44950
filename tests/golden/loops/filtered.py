from gradwright.transform.lowering.program import LengthsVary
import numpy as np


def filtered_grad(ys, F, x):
    # forward sweep
    if ys.shape[1] != 2:
        raise LengthsVary(-1)
    x_1 = np.empty(2)
    P = np.empty((2, 2))
    matmul_1 = np.empty(2)
    matmul_2 = np.empty((2, 2))
    matmul_3 = np.empty((2, 2))
    x_bar = np.zeros(2)
    P_bar = np.zeros((2, 2))
    F_bar = np.zeros((2, 2))
    result_1 = np.empty((2, 2))
    x_bar_1 = np.empty(2)
    matmul_bar = np.empty(2)
    result_2 = np.empty((2, 2))
    inverse_bar = np.empty((2, 2))
    matmul_4 = np.empty((2, 2))
    total_bar = np.empty((2, 2))
    x_tape = np.empty((len(ys), 2))
    matmul_tape = np.empty((len(ys), 2, 2))
    P_tape = np.empty((len(ys), 2, 2))
    inverse_tape = np.empty((len(ys), 2, 2))
    x_tape_1 = np.empty((len(ys), 2))
    K_tape = np.empty((len(ys), 2, 2))
    P_tape_1 = np.empty((len(ys), 2, 2))
    r_tape = np.empty((len(ys), 2))
    x_top = 0
    matmul_top = 0
    P_top = 0
    inverse_top = 0
    matmul_top_1 = 0
    x_top_1 = 0
    K_top = 0
    P_top_1 = 0
    r_top = 0
    # reverse sweep
    for i_1 in range(2):
        x_1[i_1] = x[i_1]
    for i_1 in range(2):
        for j in range(2):
            P[i_1, j] = np.float64(i_1 == j)
    for i in range(len(ys)):
        for i_1 in range(2):
            matmul = np.float64(0.0)
            for j in range(2):
                matmul += F[i_1, j] * x_1[j]
            matmul_1[i_1] = matmul
            x_tape[x_top, i_1] = x_1[i_1]
        x_top += 1
        for i_1 in range(2):
            x_1[i_1] = matmul_1[i_1]
        for i_1 in range(2):
            for j in range(2):
                matmul_2[i_1, j] = np.float64(0.0)
        for i_1 in range(2):
            for j in range(2):
                for k in range(2):
                    matmul_2[i_1, k] += F[i_1, j] * P[j, k]
        for i_1 in range(2):
            for j in range(2):
                matmul_tape[matmul_top, i_1, j] = matmul_2[i_1, j]
                matmul_3[i_1, j] = np.float64(0.0)
                P_tape[P_top, i_1, j] = P[i_1, j]
        matmul_top += 1
        for i_1 in range(2):
            for j in range(2):
                for k in range(2):
                    matmul_3[i_1, k] += matmul_2[i_1, j] * F[k, j]
        P_top += 1
        for i_1 in range(2):
            for j in range(2):
                value = np.float64(i_1 == j)
                total = matmul_3[i_1, j] + 0.1 * value
                P[i_1, j] = total
                matmul_2[i_1, j] = total + 0.5 * value
        matmul_3[...] = np.linalg.inv(matmul_2)
        for i_1 in range(2):
            for j in range(2):
                inverse_tape[inverse_top, i_1, j] = matmul_3[i_1, j]
                matmul_2[i_1, j] = np.float64(0.0)
        inverse_top += 1
        for i_1 in range(2):
            for j in range(2):
                for k in range(2):
                    matmul_2[i_1, k] += P[i_1, j] * matmul_3[j, k]
        for i_1 in range(2):
            for j in range(2):
                K_tape[K_top, i_1, j] = matmul_2[i_1, j]
                matmul_3[i_1, j] = np.float64(0.0)
                P_tape_1[P_top_1, i_1, j] = P[i_1, j]
        K_top += 1
        for i_1 in range(2):
            r = ys[i, i_1] - x_1[i_1]
            matmul_1[i_1] = r
            r_tape[r_top, i_1] = r
        r_top += 1
        for i_1 in range(2):
            matmul = np.float64(0.0)
            for j in range(2):
                matmul += matmul_2[i_1, j] * matmul_1[j]
            x = x_1[i_1]
            x_tape_1[x_top_1, i_1] = x
            x_1[i_1] = x + matmul
        matmul_top_1 += 1
        x_top_1 += 1
        for i_1 in range(2):
            for j in range(2):
                for k in range(2):
                    matmul_3[i_1, k] += matmul_2[i_1, j] * P[j, k]
        P_top_1 += 1
        for i_1 in range(2):
            for j in range(2):
                P[i_1, j] -= matmul_3[i_1, j]
    for _ in range(len(ys)):
        r_top -= 1
        K_top -= 1
        P_top_1 -= 1
        x_top_1 -= 1
        matmul_top_1 -= 1
        inverse_top -= 1
        matmul_top -= 1
        P_top -= 1
        for i_1 in range(2):
            for j in range(2):
                matmul_2[i_1, j] = -P_bar[i_1, j]
                P[i_1, j] = P_tape_1[P_top_1, i_1, j]
                matmul_3[i_1, j] = np.float64(0.0)
                result_1[i_1, j] = np.float64(0.0)
        for i_1 in range(2):
            for j in range(2):
                for k in range(2):
                    matmul_3[i_1, k] += matmul_2[i_1, j] * P[k, j]
                    result_1[i_1, k] += K_tape[K_top, j, i_1] * matmul_2[j, k]
        x_top -= 1
        for i_1 in range(2):
            x_1[i_1] = x_tape_1[x_top_1, i_1]
            x_bar_2 = x_bar[i_1]
            x_bar_1[i_1] = x_bar_2
            matmul_bar[i_1] = x_bar_2
        for i_1 in range(2):
            result = np.float64(0.0)
            for j in range(2):
                result += K_tape[K_top, j, i_1] * matmul_bar[j]
            x_bar[i_1] = x_bar_1[i_1] + -(2.0 * r_tape[r_top, i_1] + result)
            x_1[i_1] = x_tape[x_top, i_1]
        for i_1 in range(2):
            for j in range(2):
                matmul_2[i_1, j] = matmul_3[i_1, j] + matmul_bar[i_1] * r_tape[r_top, j]
                result_2[i_1, j] = np.float64(0.0)
                inverse_bar[i_1, j] = np.float64(0.0)
                matmul_4[i_1, j] = np.float64(0.0)
                total_bar[i_1, j] = np.float64(0.0)
        for i_1 in range(2):
            for j in range(2):
                for k in range(2):
                    product = matmul_2[i_1, j] * inverse_tape[inverse_top, k, j]
                    result_2[i_1, k] += product
                    inverse_bar[i_1, k] += P[j, i_1] * matmul_2[j, k]
        for i_1 in range(2):
            for j in range(2):
                for k in range(2):
                    inverse = inverse_tape[inverse_top, j, i_1]
                    matmul_4[i_1, k] -= inverse * inverse_bar[j, k]
        for i_1 in range(2):
            for j in range(2):
                for k in range(2):
                    product_1 = matmul_4[i_1, j] * inverse_tape[inverse_top, k, j]
                    total_bar[i_1, k] += product_1
        for i_1 in range(2):
            for j in range(2):
                P_bar_1 = P_bar[i_1, j] + result_1[i_1, j] + result_2[i_1, j]
                P_bar[i_1, j] = P_bar_1 + total_bar[i_1, j]
                matmul_2[i_1, j] = np.float64(0.0)
                matmul_3[i_1, j] = np.float64(0.0)
                P[i_1, j] = P_tape[P_top, i_1, j]
                inverse_bar[i_1, j] = np.float64(0.0)
        for i_1 in range(2):
            for j in range(2):
                for k in range(2):
                    matmul_2[i_1, k] += P_bar[i_1, j] * F[j, k]
                    matmul_3[i_1, k] += P_bar[j, i_1] * matmul_tape[matmul_top, j, k]
        for i_1 in range(2):
            for j in range(2):
                for k in range(2):
                    inverse_bar[i_1, k] += matmul_2[i_1, j] * P[k, j]
        for i_1 in range(2):
            for j in range(2):
                F_bar[i_1, j] += matmul_3[i_1, j] + inverse_bar[i_1, j]
                result_1[i_1, j] = np.float64(0.0)
        for i_1 in range(2):
            for j in range(2):
                for k in range(2):
                    result_1[i_1, k] += F[j, i_1] * matmul_2[j, k]
        for i_1 in range(2):
            for j in range(2):
                P_bar[i_1, j] = result_1[i_1, j]
                F_bar[i_1, j] += x_bar[i_1] * x_1[j]
        for i_1 in range(2):
            x_bar_2 = np.float64(0.0)
            for j in range(2):
                x_bar_2 += F[j, i_1] * x_bar[j]
            matmul_1[i_1] = x_bar_2
        for i_1 in range(2):
            x_bar[i_1] = matmul_1[i_1]
    return F_bar
