"""Read labels as numbers in a Spark cluster."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as t

from ...crowd.cleaning import NUMBER
from ...crowd.numbers import LARGEST, first_case, refuse_unusable
from ...errors import DataError


def as_number_column(kind: t.DataType) -> Column:
    """Return the labels as numbers, given their data type; null where they are none.

    Raises:
        DataError: The data type is neither of numbers nor of text.
    """
    if isinstance(kind, t.NumericType):
        return f.col("label").cast("double")
    if not isinstance(kind, t.StringType):
        raise DataError(
            f"The labels are {kind.simpleString()}, and numeric labels are numbers, or text that says numbers: turn "
            "each value into a number first."
        )
    return f.when(f.col("label").rlike(NUMBER), f.trim("label").cast("double"))


def refuse_unless_numbers(labelled: DataFrame) -> None:
    """Raise `DataError` if some label is no usable number; every row has a label."""
    number = as_number_column(labelled.schema["label"].dataType)
    usable = f.coalesce(f.abs(number) <= LARGEST, f.lit(False))
    unusable = labelled.filter(~usable)
    first = unusable.orderBy("row").first()
    if first is not None:
        case = first_case(first["label"], first["item"], first["worker"])
        refuse_unusable(unusable.count(), labelled.count(), case)
