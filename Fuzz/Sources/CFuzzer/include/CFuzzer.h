// Declares nothing, because Swift calls no function of CFuzzer.c.
