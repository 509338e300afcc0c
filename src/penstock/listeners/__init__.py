"""Sockets: one family of files for each protocol that is listened to."""
