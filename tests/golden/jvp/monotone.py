def monotone_jvp(x, x_dot):
    stack = [x[0]]
    stack_dot = [x_dot[0]]
    for v, v_dot in zip(x, x_dot):
        while len(stack) > 0 and stack[-1] > v:
            stack.pop()
            stack_dot.pop()
        stack_dot.append(2.0 * v * v_dot)
        stack.append(v * v)
    result = 0.0
    result_dot = 0.0
    for i in range(len(stack)):
        result_dot += stack_dot[i]
        result += stack[i]
    count = len(stack)
    return result * count, count * result_dot
