import math


def pressure_jvp(volume, gas, volume_dot, gas_dot):
    if volume <= 0.0:
        raise ValueError(f"a volume of {volume}")
    assert gas > 1.0, "no such gas"
    power = volume**gas
    if gas >= 1 or volume != 0:
        by_volume = gas * volume ** (gas - 1)
    else:
        by_volume = gas * math.inf if gas != 0 else 0.0
    if volume == 0:
        slope = 0.0
    else:
        slope = math.nan if volume < 0 else power * math.log(volume)
    quotient_dot = -1.0 / power / power * (by_volume * volume_dot + slope * gas_dot)
    return 1.0 / power, quotient_dot
