"""The catalog of models, metrics, algorithms, attacks and formats that a plan can name."""
