def pipeline_grad(x):
    return 1.0 + 2.0 * (x + 1.0)
