"""The array library of an array. NumPy needs nothing else; other libraries are used through ``array-api-compat``."""

from typing import Any

import numpy as np

from cohabit.errors import BadArgs


def namespace_of(array: Any) -> Any:
    """The namespace with the functions of the Array API standard for this array."""
    if isinstance(array, np.ndarray):
        return np
    try:
        from array_api_compat import array_namespace
    except ImportError:
        raise BadArgs("arrays of other libraries than NumPy need the extra: pip install 'cohabit[gpu]'") from None
    try:
        return array_namespace(array)
    except TypeError:
        raise BadArgs(f"{type(array).__name__} is not an array of a library that follows the Array API") from None


def compatible(xp: Any) -> Any:
    """The namespace for a library given as a module, such as ``cupy`` or ``torch``."""
    return xp if xp is np else namespace_of(xp.asarray([0]))
