"""Who answers: one provider a file, each with `build(name)`."""
