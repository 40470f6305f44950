import math


def pressure_grad(volume, gas):
    # forward sweep
    if volume <= 0.0:
        raise ValueError(f"a volume of {volume}")
    assert gas > 1.0, "no such gas"
    power = volume**gas
    # reverse sweep
    if gas >= 1 or volume != 0:
        # programs.py  return 1.0 / volume**gas
        by_volume = gas * volume ** (gas - 1)
    else:
        by_volume = gas * math.inf if gas != 0 else 0.0
    if volume == 0:
        slope = 0.0
    else:
        slope = math.nan if volume < 0 else power * math.log(volume)
    return -1.0 / power / power * by_volume, -1.0 / power / power * slope
