"""Results as data frames of pandas, in which whole numbers stay whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .extras import require

if TYPE_CHECKING:
    import pandas
    import pyarrow


def pandas_frame(table: pyarrow.Table) -> pandas.DataFrame:
    """A table as a data frame of pandas.

    Whole numbers and truth values have the types of pandas that know missing values, whether any is missing or not: as floats,
    nanoseconds of today would be rounded by up to 128.
    """
    pd = require("pandas", "pandas", "to_pandas()")
    pa = require("pyarrow", "pandas", "to_pandas()")
    types: dict[Any, Any] = {pa.bool_(): pd.BooleanDtype()}
    for bits in (8, 16, 32, 64):
        types[getattr(pa, f"int{bits}")()] = getattr(pd, f"Int{bits}Dtype")()
        types[getattr(pa, f"uint{bits}")()] = getattr(pd, f"UInt{bits}Dtype")()
    return table.to_pandas(types_mapper=types.get)


def pandas_columns(columns: dict[str, list[Any]]) -> pandas.DataFrame:
    """Lists of values as a data frame of pandas; whole numbers of which some are missing stay whole."""
    pd = require("pandas", "pandas", "to_pandas()")

    def column(values: list[Any]) -> Any:
        found = [value for value in values if value is not None]
        is_whole = all(isinstance(value, int) and not isinstance(value, bool) for value in found)
        return pd.array(values, dtype="Int64") if found and is_whole and len(found) < len(values) else values

    return cast("pandas.DataFrame", pd.DataFrame({name: column(values) for name, values in columns.items()}))
