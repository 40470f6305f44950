import math


def pressure_grad(volume, gas):
    # forward sweep
    if volume <= 0.0:
        raise ValueError(f'a volume of {volume}')
    gt = gas > 1.0
    assert gt, 'no such gas'
    power = volume ** gas
    # reverse sweep
    # programs.py  return 1.0 / volume**gas
    quotient = 1.0 / power / power
    by_base = gas * volume ** (gas - 1) if gas >= 1 else gas * (power / volume
        ) if gas < 0 else gas * (power / volume
        ) if volume != 0 else 0.0 if gas == 0 else math.inf
    by_exponent = power * math.log(volume
        ) if volume > 0 else 0.0 if volume == 0 else math.nan
    return -(quotient * by_base), -(quotient * by_exponent)
