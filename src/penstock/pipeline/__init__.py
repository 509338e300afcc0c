"""The data pipeline: Spark jobs and data sources around the queue.

Everything here is a client. It reads the journal's files, or speaks the public API, and imports nothing of the server:
an executor of a cluster needs this folder, Spark and botocore, and no more.

    session    a Spark session, or one clear line about what is missing
    events     the journal as a DataFrame, and what in it could not be read
    tables     tables of files with exactly-once commits
    schemas    what is in each table, with versions
    sources    `penstock.journal` and `penstock.queue` for any Spark program
    jobs       one file a job: read, transform, write
"""
