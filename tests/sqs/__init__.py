"""Amazon SQS as its clients meet it: every numbered row of the specification, over both protocols."""
