"""The Wilson score interval of a share."""

from __future__ import annotations

import math

# Two-sided 95% point of the standard normal distribution.
_Z = 1.959963984540054


def wilson_interval(successes: float, n: int) -> tuple[float, float] | None:
    """Return the 95% interval of a share; None for n = 0.

    With p = successes / n and z = 1.96 it is
    (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n); both ends lie in [0, 1].
    Source: Wilson, JASA 22 (1927), without continuity correction.

    Args:
        successes: from 0 to n.
        n: trials.
    """
    if n == 0:
        return None
    share = successes / n
    spread = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    centre, scale = share + _Z**2 / (2 * n), 1 + _Z**2 / n
    # At 0 and n one end is exact; rounding may not push it out.
    low = 0.0 if successes == 0 else max(0.0, (centre - spread) / scale)
    high = 1.0 if successes == n else min(1.0, (centre + spread) / scale)
    return low, high
