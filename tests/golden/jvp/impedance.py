def impedance_jvp(
    resistance,
    inductance,
    capacitance,
    omega,
    resistance_dot,
    inductance_dot,
    capacitance_dot,
    omega_dot,
):
    product_dot = 1.0j * omega_dot
    quotient = 1.0 / (1.0j * omega * capacitance)
    z = resistance + 1.0j * omega * inductance + quotient
    product_dot_2 = capacitance * product_dot + 1.0j * omega * capacitance_dot
    product = quotient / (1.0j * omega * capacitance) * product_dot_2
    product_dot_1 = inductance * product_dot + 1.0j * omega * inductance_dot
    z_dot = resistance_dot + product_dot_1 - product
    modulus = abs(z)
    return modulus, ((z.conjugate() / modulus if modulus != 0 else 0.0) * z_dot).real
