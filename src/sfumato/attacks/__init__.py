"""What an adversary can do with a table; shares no code with the models and algorithms that defend it."""
