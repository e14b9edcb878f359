"""What an adversary can do with a release; shares no code with the models and algorithms that defend it."""
