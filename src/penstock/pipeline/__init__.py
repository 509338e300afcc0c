"""The data pipeline: Spark jobs and data sources around the queue.

Everything here is a client. It reads the journal's files, or speaks the public API, and imports nothing of the server:
an executor of a cluster needs this folder, Spark and botocore, and no more.

    catalogue   the jobs and their options, as data             jobs/       one file a job: transform, run
    session     a Spark session, or one clear line              sources/    `penstock.journal`, `penstock.queue`
    following   follows the journal, batch by batch             inputs      … from its folder or from the server
    events      the journal's lines as a DataFrame              density     … and what of it is missing or torn
    whole       … the quick way, where nothing is               unpacking   … what is in a file, up to its damage
    tables      tables of files: commits that happen once       manifest    … the log of commits
    lakes       the same as Delta and Iceberg tables            schemas     what is in each table, with versions
    checkpoint  of one job into one table                       progress    a bar, or lines of JSON
    counting/   windows, for `metrics`                          sqs         a light client, for executors

A batch goes: Spark's file source plans it → `following` counts it → the job's transform, pure DataFrames → `tables`
commit it under its number → `_corrupt` gets what was wrong → the checkpoint and the server know how far we are.
docs/adr/013 says why.
"""
