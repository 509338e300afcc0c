"""The forms that tables may have, and what a session needs for each. Plain Parquet needs nothing.

Delta and Iceberg are not part of Spark: their jars are fetched by their coordinates when the form is asked for, unless
the person names jars of their own with `--conf spark.jars=…`.
"""

from collections.abc import Mapping

PARQUET = "parquet"
PACKAGES = {
    "delta": "io.delta:delta-spark_4.2_2.13:4.4.0",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
}
FORMATS = (PARQUET, *PACKAGES)
CLASSES = {"delta": "io.delta.sql.DeltaSparkSessionExtension", "iceberg": "org.apache.iceberg.spark.SparkCatalog"}
"""One of each jar, to see whether it is there."""
CATALOGUE = "penstock"


def settings(form: str, out: str, own: Mapping[str, str]) -> dict[str, str]:
    """A session's settings for this form, under those that the person gave."""
    if form == PARQUET:
        return dict(own)
    jars = {} if "spark.jars" in own else {"spark.jars.packages": PACKAGES[form]}
    return {**jars, **_of(form, out), **own}


def _of(form: str, out: str) -> dict[str, str]:
    if form == "delta":
        return {
            "spark.sql.extensions": CLASSES[form],
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            "spark.databricks.delta.autoCompact.enabled": "true",
            "spark.databricks.delta.snapshotPartitions": "2",  # the log of tables like ours is small
        }
    name = f"spark.sql.catalog.{CATALOGUE}"
    return {
        name: CLASSES[form],
        f"{name}.type": "hadoop",
        f"{name}.warehouse": f"{out.rstrip('/')}/iceberg",
        f"{name}.cache-enabled": "false",  # a stream has a session of its own, and each must see the other's commits
    }
