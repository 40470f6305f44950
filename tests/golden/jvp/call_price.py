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
    quotient = (math.log(spot / strike) + rate * years) / spread
    quotient_dot = spot_dot / strike - spot / strike / strike * strike_dot
    total_dot = quotient_dot / (spot / strike) + (years * rate_dot + rate * years_dot)
    quotient_dot_1 = total_dot / spread - quotient / spread * spread_dot
    d = quotient + 0.5 * spread
    d_dot = quotient_dot_1 + 0.5 * spread_dot
    sqrt_1 = math.sqrt(2.0)
    quotient_1 = d / sqrt_1
    product = 0.5 * (1.0 + math.erf(quotient_1))
    exp = math.exp(-rate * years)
    quotient_2 = (d - spread) / sqrt_1
    product_1 = 0.5 * (1.0 + math.erf(quotient_2))
    product_4 = strike * exp * (-rate * years_dot - years * rate_dot)
    product_5 = product_1 * (exp * strike_dot + product_4)
    exp_1 = math.exp(-quotient_1 * quotient_1)
    product_3 = spot * exp_1 / math.sqrt(math.pi) * d_dot / sqrt_1
    exp_2 = math.exp(-quotient_2 * quotient_2)
    difference_dot = quotient_dot_1 - 0.5 * spread_dot
    product_6 = strike * exp * exp_2 / math.sqrt(math.pi) * difference_dot / sqrt_1
    difference_dot_1 = product * spot_dot + product_3 - (product_5 + product_6)
    return spot * product - strike * exp * product_1, difference_dot_1
