#pragma once
#include <stdint.h>

/// How many blocks were allocated by this process so far; 0 for ever where malloc cannot be interposed.
uint64_t allocation_count(void);

/// How many bytes are allocated and not freed, over all arenas; 0 where the system does not say.
uint64_t allocated_byte_count(void);

/// Gives memory that was freed back to the system, so that what is taken next shows as resident memory.
void release_free_memory(void);
