import math


def arc_distance_jvp(phi_a, lam_a, phi_b, lam_b, phi_a_dot, lam_a_dot, phi_b_dot,
    lam_b_dot):
    product = 0.5 * (phi_b - phi_a)
    sin_phi = math.sin(product)
    sin_phi_dot = math.cos(product) * (0.5 * (phi_b_dot - phi_a_dot))
    product = 0.5 * (lam_b - lam_a)
    sin_lam = math.sin(product)
    sin_lam_dot = math.cos(product) * (0.5 * (lam_b_dot - lam_a_dot))
    cos = math.cos(phi_a)
    cos_1 = math.cos(phi_b)
    product = cos * cos_1
    total = cos_1 * (math.sin(phi_a) * phi_a_dot) + cos * (math.sin(phi_b) * phi_b_dot)
    power = sin_lam ** 2
    difference = product * (2 * sin_lam * sin_lam_dot) - power * total
    h = sin_phi ** 2 + product * power
    h_dot = 2 * sin_phi * sin_phi_dot + difference
    sqrt = math.sqrt(h)
    chosen = 1 / math.sqrt((1 - sqrt) * (1 + sqrt)) if sqrt * sqrt != 1 else math.inf
    product = 2.0 * (chosen * ((0.5 / sqrt if sqrt != 0 else math.inf) * h_dot))
    return 2.0 * math.asin(sqrt), product
