"""What lies in ``installed`` is a package of its own: collecting it would install it for every test."""

collect_ignore = ["installed"]
