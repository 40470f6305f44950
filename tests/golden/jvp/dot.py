def dot_jvp(u, v, u_dot, v_dot):
    total = 0.0
    total_dot = 0.0
    for i in range(len(u)):
        u_i = u[i]
        v_i = v[i]
        total_dot += v_i * u_dot[i] + u_i * v_dot[i]
        total += u_i * v_i
    return total, total_dot
