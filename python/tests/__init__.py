"""Tests of the package; every result is compared with an independent reading of the same data."""
