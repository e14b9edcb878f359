"""Pages of joint results."""
