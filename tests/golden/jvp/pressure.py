import math


def pressure_jvp(volume, gas, volume_dot, gas_dot):
    if volume <= 0.0:
        raise ValueError(f'a volume of {volume}')
    gt = gas > 1.0
    assert gt, 'no such gas'
    power = volume ** gas
    by_base = gas * volume ** (gas - 1) if gas >= 1 else gas * (power / volume
        ) if gas < 0 else gas * (power / volume
        ) if volume != 0 else 0.0 if gas == 0 else math.inf
    by_exponent = power * math.log(volume
        ) if volume > 0 else 0.0 if volume == 0 else math.nan
    quotient = 1.0 / power
    product = quotient / power * (by_base * volume_dot + by_exponent * gas_dot)
    return quotient, -product
