#pragma once
#include <stdint.h>

/// Returns how many bytes are allocated and not freed, in all arenas; 0 where the system does not report it.
uint64_t allocated_byte_count(void);

/// Returns freed memory to the system, so that later allocations count as resident memory.
void release_free_memory(void);
