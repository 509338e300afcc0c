"""A streaming program that may be killed at any moment: queue → folder, a sub-folder a batch, until nothing is left.

python streaming_program.py FOLDER OPTION=VALUE…
"""

import sys
from pathlib import Path

from pyspark.sql import DataFrame

from penstock.pipeline.session import session
from penstock.pipeline.sources.queue.options import parse

NAMES = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]


def main(folder: Path, options: dict[str, str]) -> None:
    settings = {"spark.ui.enabled": "false", "spark.driver.memory": "1g"}
    spark = session("killed", "local[2]", settings=settings)
    stream = (
        spark.readStream.format("penstock.queue").options(**options, stagingLocation=str(folder / "staging")).load()
    )

    def keep(batch: DataFrame, number: int) -> None:
        batch.select("body", "message_id").write.mode("overwrite").parquet(str(folder / "out" / f"batch={number}"))

    writer = stream.writeStream.foreachBatch(keep).option("checkpointLocation", str(folder / "checkpoint"))
    with parse(options).client() as client:
        while True:
            writer.trigger(availableNow=True).start().awaitTermination()
            url = options["queueUrl"]
            left = client.call("GetQueueAttributes", QueueUrl=url, AttributeNames=NAMES)["Attributes"]
            if not any(int(left[name]) for name in NAMES):
                return


if __name__ == "__main__":
    main(Path(sys.argv[1]), dict(option.split("=", 1) for option in sys.argv[2:]))
