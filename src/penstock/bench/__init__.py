"""The load generator: a client of any SQS endpoint, ours or another's. It knows nothing of the server.

`client` moves bytes, `signing` and the two wires make and read them, `ledger` judges what came back, `scripts` say
what one connection does, `modes` put scripts into measurements, `report` and `plots` show them.
"""
