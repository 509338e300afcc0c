"""The page of `penstock pipeline report`: figures that Spark adds up, and the plots, tables and words made of them."""
