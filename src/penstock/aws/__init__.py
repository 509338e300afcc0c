"""The wire: bytes ⇄ typed calls and replies, signatures, and how an error looks."""
