#include "CAllocations.h"
#include <stdatomic.h>
#include <stddef.h>
#include <errno.h>

// One counter per thread, each in its own cache line, because threads would contend for a shared counter.
enum { slot_count = 1024 };
static struct { _Alignas(64) _Atomic uint64_t value; } slots[slot_count];

uint64_t allocation_count(void) {
    uint64_t sum = 0;
    for (int i = 0; i < slot_count; i++) sum += atomic_load_explicit(&slots[i].value, memory_order_relaxed);
    return sum;
}

#ifdef __GLIBC__
// The executable's symbols take precedence over those of libc, so every allocation of the process calls these functions.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static _Atomic unsigned thread_count;
static _Thread_local _Atomic uint64_t *slot;

static void add(void) {
    // If there are more threads than slots, threads share slots.
    if (slot == NULL) slot = &slots[atomic_fetch_add(&thread_count, 1) % slot_count].value;
    atomic_fetch_add_explicit(slot, 1, memory_order_relaxed);
}

void *malloc(size_t size) { add(); return __libc_malloc(size); }
void *calloc(size_t number, size_t size) { add(); return __libc_calloc(number, size); }
void *realloc(void *block, size_t size) { add(); return __libc_realloc(block, size); }
void *memalign(size_t alignment, size_t size) { add(); return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { add(); return __libc_memalign(alignment, size); }
int posix_memalign(void **result, size_t alignment, size_t size) {
    add();
    void *block = __libc_memalign(alignment, size);
    if (block == NULL) return ENOMEM;
    *result = block;
    return 0;
}
#endif

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
