#pragma once
#include <stdbool.h>
#include <stdint.h>

/// Returns whether allocations are counted: on Linux with glibc, without a sanitizer.
bool pipeline_counts_allocations(void);

/// Returns how many blocks this process has allocated.
int64_t pipeline_process_allocation_count(void);

/// Returns how many blocks the calling thread has allocated.
int64_t pipeline_thread_allocation_count(void);

/// Returns a number that no other running thread has.
int64_t pipeline_thread_number(void);
