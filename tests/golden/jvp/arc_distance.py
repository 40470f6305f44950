import math


def arc_distance_jvp(
    phi_a, lam_a, phi_b, lam_b, phi_a_dot, lam_a_dot, phi_b_dot, lam_b_dot
):
    sin_phi = math.sin(0.5 * (phi_b - phi_a))
    sin_lam = math.sin(0.5 * (lam_b - lam_a))
    cos = math.cos(phi_a)
    cos_1 = math.cos(phi_b)
    power = sin_lam**2
    h = sin_phi**2 + cos * cos_1 * power
    total = cos_1 * math.sin(phi_a) * phi_a_dot + cos * math.sin(phi_b) * phi_b_dot
    power_dot = sin_phi * math.cos(0.5 * (phi_b - phi_a)) * (phi_b_dot - phi_a_dot)
    cos_2 = math.cos(0.5 * (lam_b - lam_a))
    product = cos * cos_1 * sin_lam * cos_2 * (lam_b_dot - lam_a_dot)
    h_dot = power_dot + (product - power * total)
    sqrt = math.sqrt(h)
    by_sqrt = 1 / math.sqrt((1 - sqrt) * (1 + sqrt)) if sqrt * sqrt != 1 else math.inf
    product_dot = 2.0 * by_sqrt * (0.5 / sqrt if sqrt != 0 else math.inf) * h_dot
    return 2.0 * math.asin(sqrt), product_dot
