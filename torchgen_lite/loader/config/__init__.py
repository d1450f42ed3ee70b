"""What a project sets: options as they are declared, and the configuration that is read by them."""
