"""What verbs return, in every form that it can be shown and saved in."""
