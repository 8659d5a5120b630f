"""Tools for tests of one's own: a model server on this machine that fails on purpose."""
