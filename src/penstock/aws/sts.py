"""The shapes of AWS STS, compiled from its service model; see `sts.pyi`."""

from penstock.aws.contract import load

SERVICE = load("sts")
globals().update(SERVICE.types)
