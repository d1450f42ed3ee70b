"""One corpus of formulas, which every target gives the same gradients for."""
