#!/bin/sh
# Python as Spark starts it on this machine, with the installed pyspark. Spark puts a zip of the same sources before it,
# and each process would compile those anew: most of a second, several times for a query. All else on the path stays.
set -f
IFS=:
path=
for entry in $PYTHONPATH; do
    case $entry in
        "$SPARK_HOME"/*) ;;
        *) path=$path:$entry ;;
    esac
done
PYTHONPATH=${path#:} exec "$PYTHON_OF_THE_DRIVER" "$@"
