// Delays random tasks of a Swift program, so that one run shows orders of events that are rare otherwise. It is loaded
// before the program and sets the hook of the Swift runtime through which each task reaches the thread pool:
//
//     LD_PRELOAD=…/delays.so SCHEDULE_SEED=1 program
//
// Of the tasks, 10 % wait up to 3 ms and 1 % up to 100 ms, each time they continue. The seed makes the choices differ
// between runs; it does not make a run repeatable, because threads still race.
//
// Source: include/swift/Runtime/Concurrency.h of https://github.com/swiftlang/swift
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <queue>
#include <random>
#include <thread>

using Clock = std::chrono::steady_clock;
using Enqueue = void __attribute__((swiftcall)) (*)(void *job);

struct Delayed {
    Clock::time_point due;
    void *job;
    Enqueue enqueue;

    bool operator<(const Delayed &other) const { return due > other.due; }
};

// Never destroyed: tasks may continue while the process ends.
static auto &mutex = *new std::mutex;
static auto &changed = *new std::condition_variable;
static auto &delayed = *new std::priority_queue<Delayed>;
static unsigned seed;

static void runTimer() {
    std::unique_lock lock(mutex);
    for (;;) {
        if (delayed.empty()) {
            changed.wait(lock);
        } else if (const auto due = delayed.top().due; Clock::now() < due) {
            changed.wait_until(lock, due);
        } else {
            const auto next = delayed.top();
            delayed.pop();
            lock.unlock();
            next.enqueue(next.job);
            lock.lock();
        }
    }
}

static void __attribute__((swiftcall)) delay(void *job, Enqueue enqueue) {
    thread_local std::mt19937 random(seed + std::hash<std::thread::id>()(std::this_thread::get_id()));
    const auto chance = random() % 1000;
    if (chance >= 110) return enqueue(job);
    const auto wait = std::chrono::microseconds(random() % (chance < 10 ? 100'000 : 3'000));
    std::lock_guard lock(mutex);
    delayed.push({Clock::now() + wait, job, enqueue});
    changed.notify_one();
}

// Defined last, so that everything above is initialized.
static const bool isHooked = [] {
    // Programs that the tests start are not delayed, and may have no Swift runtime.
    unsetenv("LD_PRELOAD");
    const auto hook = static_cast<void **>(dlsym(RTLD_DEFAULT, "swift_task_enqueueGlobal_hook"));
    if (hook == nullptr) return false;
    if (const auto text = std::getenv("SCHEDULE_SEED")) seed = std::strtoul(text, nullptr, 10);
    *hook = reinterpret_cast<void *>(&delay);
    std::thread(runTimer).detach();
    std::fprintf(stderr, "schedules: seed %u\n", seed);
    return true;
}();
