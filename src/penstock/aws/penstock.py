"""The shapes of Penstock's own operations, compiled from `models/penstock`; see `penstock.pyi`."""

from penstock.aws.contract import load

SERVICE = load("penstock")
globals().update(SERVICE.types)
