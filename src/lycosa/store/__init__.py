"""Where replies are kept: every exchange with the web, as it came."""
