#pragma once
#include <stdint.h>

/// Returns how many blocks this process has allocated; always 0 where malloc cannot be interposed.
uint64_t allocation_count(void);

/// Returns how many bytes are allocated and not freed, in all arenas; 0 where the system does not report it.
uint64_t allocated_byte_count(void);

/// Returns freed memory to the system, so that later allocations count as resident memory.
void release_free_memory(void);
