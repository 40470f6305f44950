import math


def call_price_grad(spot, strike, rate, sigma, years):
    # forward sweep
    sqrt = math.sqrt(years)
    spread = sigma * sqrt
    quotient = (math.log(spot / strike) + rate * years) / spread
    d = quotient + 0.5 * spread
    sqrt_1 = math.sqrt(2.0)
    quotient_1 = d / sqrt_1
    exp = math.exp(-rate * years)
    quotient_2 = (d - spread) / sqrt_1
    product = 0.5 * (1.0 + math.erf(quotient_2))
    # reverse sweep
    # programs.py  return 0.5 * (1.0 + math.erf(d / math.sqrt(2.0)))
    sqrt_2 = math.sqrt(math.pi)
    quotient_3 = strike * exp * math.exp(-quotient_2 * quotient_2) / sqrt_2 / sqrt_1
    # programs.py  d = (math.log(spot / strike) + rate * years) / spread + 0.5 * ...
    d_bar = spot * math.exp(-quotient_1 * quotient_1) / sqrt_2 / sqrt_1 - quotient_3
    total_bar = d_bar / spread
    # programs.py  spread = sigma * math.sqrt(years)
    spread_bar = quotient_3 + 0.5 * d_bar - quotient / spread * d_bar
    spot_bar = 0.5 * (1.0 + math.erf(quotient_1)) + total_bar / (spot / strike) / strike
    product_1 = sigma * spread_bar * (0.5 / sqrt if sqrt != 0 else math.inf)
    years_bar = rate * exp * strike * product + rate * total_bar + product_1
    rate_bar = years * exp * strike * product + years * total_bar
    strike_bar = -(exp * product + total_bar / strike)
    return spot_bar, strike_bar, rate_bar, sqrt * spread_bar, years_bar
