#pragma once
#include <stdint.h>

/// How many blocks were allocated by this process so far; 0 for ever where malloc cannot be interposed.
uint64_t allocation_count(void);
