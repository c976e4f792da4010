"""What is known of one host: the probe script, one pure parser a domain, and the frozen `Facts`."""
