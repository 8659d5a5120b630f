"""Questions of a set put otherwise, a kind of variation a file."""
