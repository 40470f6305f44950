import math


def arc_distance_grad(phi_a, lam_a, phi_b, lam_b):
    # forward sweep
    sin_phi = math.sin(0.5 * (phi_b - phi_a))
    sin_lam = math.sin(0.5 * (lam_b - lam_a))
    cos = math.cos(phi_a)
    cos_1 = math.cos(phi_b)
    power = sin_lam**2
    h = sin_phi**2 + cos * cos_1 * power
    sqrt = math.sqrt(h)
    # reverse sweep
    # programs.py  return 2.0 * math.asin(math.sqrt(h))
    by_sqrt = 1 / math.sqrt((1 - sqrt) * (1 + sqrt)) if sqrt * sqrt != 1 else math.inf
    h_bar = 2.0 * by_sqrt * (0.5 / sqrt if sqrt != 0 else math.inf)
    # programs.py  sin_lam = math.sin(0.5 * (lam_b - lam_a))
    product = cos * cos_1 * h_bar * sin_lam * math.cos(0.5 * (lam_b - lam_a))
    # programs.py  sin_phi = math.sin(0.5 * (phi_b - phi_a))
    product_1 = h_bar * sin_phi * math.cos(0.5 * (phi_b - phi_a))
    total = math.sin(phi_a) * cos_1 * power * h_bar + product_1
    return -total, -product, product_1 - math.sin(phi_b) * cos * power * h_bar, product
