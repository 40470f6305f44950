def impedance_grad(resistance, inductance, capacitance, omega):
    # forward sweep
    product = 1.0j * omega * capacitance
    quotient = 1.0 / product
    z = resistance + 1.0j * omega * inductance + quotient
    modulus = abs(z)
    # reverse sweep
    # programs.py  return abs(z)
    by_z = z.conjugate() / modulus if modulus != 0 else 0.0
    # programs.py  z = resistance + 1j * omega * inductance + 1.0 / (1j * omega * ...
    product_1 = quotient / product * by_z
    product_2 = 1.0j * omega
    omega_bar = (-1.0j * capacitance * product_1).real + (1.0j * inductance * by_z).real
    return by_z.real, (by_z * product_2).real, (-product_1 * product_2).real, omega_bar
