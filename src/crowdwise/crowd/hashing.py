"""Hashes of ids: our own, because those of libraries change from version to version, and states keep ours."""

from importlib import import_module
from typing import Final

import numpy as np
import polars as pl

from ..numerics import Array
from ..numerics.twins import is_few
from .encoding import keys

_U = np.uint64
# Bytes of a text from which on a kernel is faster than one step in NumPy for each.
_LONG: Final = 1 << 14
# So many names are hashed at once, because their text is copied for it.
_BATCH: Final = 1_000_000


def hashes_of(names: pl.Series) -> Array:
    """Return a 64-bit hash of every name."""
    return np.concatenate([_hashes(names.slice(first, _BATCH)) for first in range(0, max(len(names), 1), _BATCH)])


def _hashes(names: pl.Series) -> Array:
    names = in_own_values(names)
    if names.dtype == pl.String:
        text = np.frombuffer(names.str.join("").item().encode(), np.uint8)
        return hash_text(text, names.str.len_bytes().cast(pl.Int64).to_numpy())
    return hash_numbers(keys(names)[0])


def in_own_values(names: pl.Series) -> pl.Series:
    """Return names as text if what is stored for a name depends on the other names, or has more than 64 bits."""
    stored_otherwise = names.dtype.is_decimal() or names.dtype in (pl.Categorical, pl.Enum, pl.Int128, pl.UInt128)
    return names.cast(pl.String) if stored_otherwise else names


def hash_numbers(numbers: Array) -> Array:
    """Return a 64-bit hash of every number (the finalizer of SplitMix64); different numbers have different hashes."""
    numbers = (numbers ^ (numbers >> _U(30))) * _U(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> _U(27))) * _U(0x94D049BB133111EB)
    return np.asarray(numbers ^ (numbers >> _U(31)))


def hash_text(text: Array, lengths: Array) -> Array:
    """Return a 64-bit hash (FNV-1a, mixed) of every piece of a text; `lengths` has the bytes of every piece."""
    if is_few(len(lengths)) and lengths.max(initial=0) <= _LONG:
        return hash_numbers(fnv(text, lengths))
    return hash_numbers(import_module("crowdwise.crowd.encoding_kernel").fnv(text, lengths))


def fnv(text: Array, lengths: Array) -> Array:
    """Return the hash FNV-1a of every piece of a text, the first bytes of all pieces first."""
    order = np.argsort(-lengths, kind="stable")  # the longest first, so that those with a next byte are the first ones
    starts = (np.cumsum(lengths) - lengths)[order]
    longer = np.searchsorted(-lengths[order], -np.arange(lengths.max(initial=0)))
    hashes = np.full(lengths.size, 0xCBF29CE484222325, _U)
    for byte, count in enumerate(longer):
        hashes[:count] = (hashes[:count] ^ text[starts[:count] + byte]) * _U(0x100000001B3)
    found = np.empty_like(hashes)
    found[order] = hashes
    return found


def split_by_hash(keys: Array, bits: int) -> tuple[Array, Array]:
    """Split rows into 2^bits parts by a hash of their keys, so that rows with the same key are in the same part.

    Returns:
        The numbers of the rows in the order of the parts, those of one part in their own order; and where each part
        starts in that order (parts + 1).
    """
    # Another hash than that of `encode`: with the same one, all keys of a part would be close together in the hash
    # table of `encode`, and it would be slow.
    mixed = keys * _U(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> _U(32))) * _U(0xD6E8FEB86659FD93)
    parts = (mixed >> _U(64 - bits) if bits else np.zeros_like(mixed)).astype(np.uint16)  # which NumPy sorts by radix
    return np.argsort(parts, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(parts, minlength=1 << bits))])
