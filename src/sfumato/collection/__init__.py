"""Privacy at collection time: answers are randomized where they are given, and only distributions are learnt from them.

``sfumato.collection.respondent`` and what it imports need nothing but Python, so that a survey tool can embed them;
reconstruction and mining need NumPy, the estimators scikit-learn. Nothing is imported here.

>>> from sfumato.collection.specification import Specification
>>> from sfumato.collection.mechanisms import KeptCategory
>>> coin = KeptCategory.warner("smokes", ("yes", "no"), truth="3/4")
>>> str(Specification(questions=(coin,)).questions[0].epsilon)
'ln 3'
"""
