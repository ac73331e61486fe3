// Tells ThreadSanitizer what the slow paths of Synchronization.Mutex order, and helps ContinuationOrder.swift to do so for continuations;
// linked into tests by scripts/thread-sanitizer.
//
// On Linux the fast paths of Mutex are inlined into the code that locks, where their atomic operations are instrumented. A
// contended lock is taken and given back by the kernel, from functions of libswiftSynchronization.so, which is not instrumented:
// ThreadSanitizer sees no order there and reports what the lock guards as a race. These functions stand before those of the
// library, call them, and add the order that they make, on the address that the fast paths use. They hide nothing: only who has
// taken the lock comes after who gave it back.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Weak, so that what is linked with this and not instrumented works as before.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

// Synchronization._MutexHandle._lockSlow(UInt32) -> (), ._tryLockSlow() -> Bool, ._unlockSlow() -> ()
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// A method of Swift takes `self` in a register of its own.
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
    fprintf(stderr, "Order.c: this Swift has no %s: Mutex has changed, and this file has to follow\n", name);
    abort();
}

// Before main, and so before there is a second thread.
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

// The task that runs, which resume() of its continuation has released; see ContinuationOrder.swift.
SWIFT void *currentTask(void) __asm__("swift_task_getCurrent");

SWIFT void acquireCurrentTask(void) {
    if (__tsan_acquire) __tsan_acquire(currentTask());
}
