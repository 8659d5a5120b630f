"""What judging took, and how far a judge agrees with people."""
