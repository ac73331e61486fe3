#include "CAllocations.h"
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

// A sanitizer replaces malloc itself.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) \
    || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

#if defined(__GLIBC__) && !IS_SANITIZED
// One counter per thread, each in its own cache line, because threads would contend for a shared counter.
enum { slot_count = 1024 };
static struct { _Alignas(64) _Atomic int64_t value; } slots[slot_count];
static _Atomic unsigned thread_count;

// The model needs no allocation, even in a shared library.
#define THREAD_LOCAL static _Thread_local __attribute__((tls_model("initial-exec")))
THREAD_LOCAL _Atomic int64_t *slot;
THREAD_LOCAL int64_t thread_allocation_count;

bool pipeline_counts_allocations(void) { return true; }

int64_t pipeline_process_allocation_count(void) {
    int64_t sum = 0;
    unsigned count = atomic_load_explicit(&thread_count, memory_order_relaxed);
    for (unsigned i = 0; i < count && i < slot_count; i++) {
        sum += atomic_load_explicit(&slots[i].value, memory_order_relaxed);
    }
    return sum;
}

int64_t pipeline_thread_allocation_count(void) { return thread_allocation_count; }

int64_t pipeline_thread_number(void) { return (int64_t)(intptr_t)&thread_allocation_count; }

static void add(void) {
    // If there are more threads than slots, threads share slots.
    if (slot == NULL) slot = &slots[atomic_fetch_add(&thread_count, 1) % slot_count].value;
    atomic_fetch_add_explicit(slot, 1, memory_order_relaxed);
    thread_allocation_count++;
}

// The executable's symbols take precedence over those of libc, so every allocation of the process calls these functions.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) { add(); return __libc_malloc(size); }
void *calloc(size_t number, size_t size) { add(); return __libc_calloc(number, size); }
void *realloc(void *block, size_t size) { add(); return __libc_realloc(block, size); }
void *memalign(size_t alignment, size_t size) { add(); return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { add(); return __libc_memalign(alignment, size); }
int posix_memalign(void **result, size_t alignment, size_t size) {
    add();
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    void *block = __libc_memalign(alignment, size);
    if (block == NULL) return ENOMEM;
    *result = block;
    return 0;
}
#else
bool pipeline_counts_allocations(void) { return false; }

int64_t pipeline_process_allocation_count(void) { return 0; }

int64_t pipeline_thread_allocation_count(void) { return 0; }

int64_t pipeline_thread_number(void) { return 0; }
#endif
