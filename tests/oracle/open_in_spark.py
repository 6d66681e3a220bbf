"""Reads tables of a dataset with Spark, with no option, and prints their rows as JSON."""

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

dataset, *tables = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR").getOrCreate()
)
rows = {}
for table in tables:
    frame = spark.read.parquet(str(Path(dataset) / table))
    rows[table] = [row.asDict() for row in frame.collect()]
print(json.dumps(rows))
spark.stop()
