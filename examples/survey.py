"""Ask people about smoking and age so that the collector sees no true answer, and estimate the shares all the same.

Secret from the collector: what anybody really answered.
Becomes public: the specification, and shown answers that were changed at random where they were given.
Whoever is asked again shows the remembered answer; what all answers say together is the purpose and is not hidden.
"""

# ruff: noqa: T201  an example prints
from __future__ import annotations

from sfumato.collection.channels import evidence
from sfumato.collection.mechanisms import KeptCategory
from sfumato.collection.reconstruction import reconstruct, with_intervals
from sfumato.collection.respondent import Respondent
from sfumato.collection.specification import Specification, number_question

PEOPLE = 4_000


def main() -> None:
    """Design, answer, learn."""
    smokes = KeptCategory.warner("smokes", ("yes", "no"), truth="3/4")
    age = number_question("age", "laplace", low=0, high=99, epsilon=4)
    spec = Specification(questions=(smokes, age))
    print(f"promised for both answers together: {spec.epsilon}")

    asked = Respondent(spec)
    true = [{"smokes": "yes" if n % 10 < 3 else "no", "age": 20 + n % 40} for n in range(PEOPLE)]
    shown = [asked.answer(f"person {n}", one) for n, one in enumerate(true)]
    again = asked.answer("person 0", {"smokes": "no", "age": 99})
    print(f"asked again, the same answer: {again == shown[0]}")

    found = with_intervals(evidence(smokes, [one["smokes"] for one in shown]), method="inversion", confidence=0.999999)
    share = float(found.shares[0])
    print(f"the estimated share of smokers is near the true 30 %: {abs(share - 0.3) < 0.12}")
    ages = reconstruct(evidence(age, [one["age"] for one in shown], cells=5))
    print(f"most people are from {ages.labels[int(ages.shares.argmax())]} years old")


if __name__ == "__main__":
    main()
