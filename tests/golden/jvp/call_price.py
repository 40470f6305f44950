import math


def call_price_jvp(
    spot,
    strike,
    rate,
    sigma,
    years,
    spot_dot,
    strike_dot,
    rate_dot,
    sigma_dot,
    years_dot,
):
    sqrt = math.sqrt(years)
    spread = sigma * sqrt
    product_2 = sigma * (0.5 / sqrt if sqrt != 0 else math.inf) * years_dot
    spread_dot = sqrt * sigma_dot + product_2
    quotient = spot / strike
    quotient_1 = (math.log(quotient) + rate * years) / spread
    log_dot = (spot_dot / strike - quotient / strike * strike_dot) / quotient
    total_dot = log_dot + (years * rate_dot + rate * years_dot)
    quotient_dot = total_dot / spread - quotient_1 / spread * spread_dot
    product_dot = 0.5 * spread_dot
    d = quotient_1 + 0.5 * spread
    d_dot = quotient_dot + product_dot
    sqrt_1 = math.sqrt(2.0)
    quotient_2 = d / sqrt_1
    sqrt_2 = math.sqrt(math.pi)
    product = 0.5 * (1.0 + math.erf(quotient_2))
    exp = math.exp(-rate * years)
    quotient_3 = (d - spread) / sqrt_1
    product_1 = 0.5 * (1.0 + math.erf(quotient_3))
    product_3 = spot * math.exp(-quotient_2 * quotient_2) / sqrt_2 * d_dot / sqrt_1
    product_4 = strike * exp * (-rate * years_dot - years * rate_dot)
    product_5 = product_1 * (exp * strike_dot + product_4)
    exp_1 = math.exp(-quotient_3 * quotient_3)
    product_6 = strike * exp * exp_1 / sqrt_2 * (quotient_dot - product_dot) / sqrt_1
    difference_dot = product * spot_dot + product_3 - (product_5 + product_6)
    return spot * product - strike * exp * product_1, difference_dot
