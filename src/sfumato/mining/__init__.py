"""Models instead of data: decision trees that keep a privacy requirement, and pseudo-data from them (document 004).

A source publishes a tree whose every leaf meets a requirement; whoever has the trees of several sources draws
pseudo-data from them and learns a model of all. The learner, the pruning and the generator need NumPy alone;
scikit-learn is asked for where its own models come in. Association rules are mined and measured here too. Nothing is
imported here.

>>> from sfumato.mining.leaf_privacy import Leaves, TreeRecursiveDiversity
>>> leaves = Leaves.of_hits(hit=[2, 5], miss=[2, 4])
>>> TreeRecursiveDiversity(c=3, l=3).passes(leaves).tolist()
[True, False]
"""
