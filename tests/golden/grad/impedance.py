def impedance_grad(resistance, inductance, capacitance, omega):
    # forward sweep
    product = 1.0j * omega
    quotient = 1.0 / (1.0j * omega * capacitance)
    z = resistance + product * inductance + quotient
    modulus = abs(z)
    # reverse sweep
    # programs.py  return abs(z)
    by_z = z.conjugate() / modulus if modulus != 0 else 0.0
    # programs.py  z = resistance + 1j * omega * inductance + 1.0 / (1j * omega * ...
    product_1 = quotient / (1.0j * omega * capacitance) * by_z
    omega_bar = (-1.0j * capacitance * product_1).real + (1.0j * inductance * by_z).real
    return by_z.real, (by_z * product).real, (-product_1 * product).real, omega_bar
