"""Kills, power cuts, sick disks, clocks that jump, races and hostile clients, judged by a history checker."""
