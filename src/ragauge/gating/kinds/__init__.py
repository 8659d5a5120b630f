"""The kinds of gate rules. Importing the package registers them, in the order in which they are listed."""

from ragauge.gating.kinds import limits as limits
from ragauge.gating.kinds import single_examples as single_examples
