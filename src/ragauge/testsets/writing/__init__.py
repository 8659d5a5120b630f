"""Questions written by a model: what is drawn, what is asked, what comes back."""
