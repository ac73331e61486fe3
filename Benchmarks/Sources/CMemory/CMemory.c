#include "CMemory.h"

#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
#include <malloc.h>

uint64_t allocated_byte_count(void) {
    struct mallinfo2 information = mallinfo2();
    return information.uordblks + information.hblkhd;
}

void release_free_memory(void) { malloc_trim(0); }
#else
uint64_t allocated_byte_count(void) { return 0; }

void release_free_memory(void) {}
#endif
