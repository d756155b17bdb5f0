"""Dividing whole things fairly: the method of the largest remainder."""


def split(units: int, weights: dict[str, int]) -> dict[str, int]:
    """So many units, shared out in proportion to the weights, which are all at least 1. Who gets none is left out.

    Each has the whole part of its share; what is then left goes, one each, to the largest fractions, and where
    fractions are equal to the smaller name. A share without a fraction gets nothing on top.
    """
    whole = sum(weights.values())
    shares = {}
    fractions = []
    left = units
    for name, weight in weights.items():
        share, rest = divmod(weight * units, whole)
        shares[name] = share
        left -= share
        if rest:
            fractions.append((-rest, name))
    fractions.sort()
    for _, name in fractions[:left]:
        shares[name] += 1
    return {name: share for name, share in shares.items() if share}
