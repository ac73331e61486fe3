// Informs ThreadSanitizer of the order that the slow paths of Synchronization.Mutex establish, and provides a function that
// ContinuationOrder.swift uses for continuations. scripts/thread-sanitizer links this file into the tests.
//
// On Linux, the fast paths of Mutex are inlined into the calling code, where their atomic operations are instrumented. A
// contended lock is acquired and released through the kernel by functions of libswiftSynchronization.so, which is not
// instrumented. ThreadSanitizer sees no order there and reports accesses that the lock protects as races. These functions
// take precedence over those of the library, call them, and add the order on the address that the fast paths use. They
// hide no real race: they order only the release of a lock before its next acquisition.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Weak, so that this file can be linked into a program that is not instrumented.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

// Synchronization._MutexHandle._lockSlow(UInt32) -> (), ._tryLockSlow() -> Bool, ._unlockSlow() -> ()
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// A Swift method receives `self` in a dedicated register.
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

SWIFT void lockInOrder(uint32_t thread, SELF void *handle) __asm__(LOCK);
SWIFT bool tryLockInOrder(SELF void *handle) __asm__(TRY_LOCK);
SWIFT void unlockInOrder(SELF void *handle) __asm__(UNLOCK);

static SWIFT void (*libraryLock)(uint32_t, SELF void *);
static SWIFT bool (*libraryTryLock)(SELF void *);
static SWIFT void (*libraryUnlock)(SELF void *);

static void *find(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function) return function;
    fprintf(stderr, "Order.c: the Swift runtime has no function %s; adapt Order.c to the new Mutex\n", name);
    abort();
}

// Runs before main, when there is only one thread.
__attribute__((constructor)) static void findAll(void) {
    libraryLock = find(LOCK);
    libraryTryLock = find(TRY_LOCK);
    libraryUnlock = find(UNLOCK);
}

SWIFT void lockInOrder(uint32_t thread, SELF void *handle) {
    libraryLock(thread, handle);
    if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT bool tryLockInOrder(SELF void *handle) {
    bool isLocked = libraryTryLock(handle);
    if (isLocked && __tsan_acquire) __tsan_acquire(handle);
    return isLocked;
}

SWIFT void unlockInOrder(SELF void *handle) {
    if (__tsan_release) __tsan_release(handle);
    libraryUnlock(handle);
}

// Returns the current task, which resume() of its continuation has released; see ContinuationOrder.swift.
SWIFT void *currentTask(void) __asm__("swift_task_getCurrent");

SWIFT void acquireCurrentTask(void) {
    if (__tsan_acquire) __tsan_acquire(currentTask());
}
