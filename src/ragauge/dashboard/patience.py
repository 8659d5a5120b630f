"""How long a connection may take to send a request."""

REQUEST_TIMEOUT_S = 30.0  # seconds that a request may take to arrive: its head, what a form or an exporter sends
LINGER_S = 5.0  # seconds of these in which what a request that was answered still sends is read, so that it hears
