"""Which programs may run with which arguments, as data and the one pass that checks them."""
