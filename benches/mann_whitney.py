"""The test of Mann and Whitney, for the scripts that compare runs."""

import math


def mann_whitney(one, other):
    """The p of the two-sided test that neither tends to have greater values."""
    values = sorted(one + other)
    ranks = {}
    ties = 0
    for value in set(values):
        first, count = values.index(value), values.count(value)
        ranks[value] = first + (count + 1) / 2
        ties += count**3 - count
    n, m = len(one), len(other)
    total = n + m
    u = sum(ranks[value] for value in one) - n * (n + 1) / 2
    variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return 1.0
    distance = max(abs(u - n * m / 2) - 0.5, 0)
    return math.erfc(distance / math.sqrt(2 * variance))
