"""The shapes of Amazon SQS, compiled from its service model. `sqs.pyi` beside this file lists them for readers and
type checkers; `make stubs` writes it."""

from penstock.aws.contract import load

SERVICE = load("sqs")
globals().update(SERVICE.types)
