// Nothing to call from Swift: see CFuzzer.c.
