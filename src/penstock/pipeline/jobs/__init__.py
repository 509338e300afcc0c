"""The jobs of `penstock pipeline`, one file each: `read`, a pure `transform`, `write`."""
