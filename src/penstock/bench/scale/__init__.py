"""`penstock bench scale`: ten thousand queues, ten million messages, half of them in flight; and what that costs.

`plan` says how much, `phases` what happens in which order, `ledger` what must be true, `report` what was found.
"""
