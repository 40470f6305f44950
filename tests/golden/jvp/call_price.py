import math


def call_price_jvp(spot, strike, rate, sigma, years, spot_dot, strike_dot, rate_dot,
    sigma_dot, years_dot):
    sqrt = math.sqrt(years)
    spread = sigma * sqrt
    product = sigma * ((0.5 / sqrt if sqrt != 0 else math.inf) * years_dot)
    spread_dot = sqrt * sigma_dot + product
    quotient = spot / strike
    difference = spot_dot / strike - quotient / strike * strike_dot
    product_2 = years * rate_dot
    total = difference / quotient + (product_2 + rate * years_dot)
    quotient = (math.log(quotient) + rate * years) / spread
    d = quotient + 0.5 * spread
    d_dot = total / spread - quotient / spread * spread_dot + 0.5 * spread_dot
    sqrt = math.sqrt(2.0)
    quotient = d / sqrt
    quotient_1 = 2.0 / math.sqrt(math.pi)
    product_3 = quotient_1 * math.exp(-(quotient * quotient)) * (d_dot / sqrt)
    product = 0.5 * (1.0 + math.erf(quotient))
    difference = -rate
    exp = math.exp(difference * years)
    product_1 = strike * exp
    total = exp * strike_dot + strike * (exp * (difference * years_dot - product_2))
    sqrt = math.sqrt(2.0)
    quotient = (d - spread) / sqrt
    product_4 = quotient_1 * math.exp(-(quotient * quotient)) * ((d_dot - spread_dot
        ) / sqrt)
    product_2 = 0.5 * (1.0 + math.erf(quotient))
    difference = product * spot_dot + spot * (0.5 * product_3) - (product_2 * total +
        product_1 * (0.5 * product_4))
    return spot * product - product_1 * product_2, difference
