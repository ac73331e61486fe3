// The programs with which scripts/thread-sanitizer proves that ThreadSanitizer reports exactly the real races.
import Foundation
import Synchronization

final class Guarded: Sendable {
    let count = Mutex(0)
}

final class Unguarded: @unchecked Sendable {
    var value = 0
}

/// Waits for a box that another thread fills and passes on before the wait begins.
///
/// The thread then calls `workOn`, which is not ordered with the caller.
func waitForBox(_ workOn: @escaping @Sendable (Unguarded) -> Void) async {
    let box = await withCheckedContinuation { continuation in
        let flag = Flag()
        Thread.detachNewThread {
            let box = Unguarded()
            box.value = 1
            continuation.resume(returning: box)
            flag.isSet.store(true, ordering: .relaxed)
            workOn(box)
        }
        while !flag.isSet.load(ordering: .relaxed) {}
    }
    box.value += 1
}

final class Flag: Sendable {
    let isSet = Atomic(false)
}

func both(_ work: @escaping @Sendable (Int) async -> Void) async {
    await withTaskGroup(of: Void.self) { group in
        for number in 0..<2 { group.addTask { await work(number) } }
    }
}

let rounds = 100_000
let guarded = Guarded()
let other = Guarded()
let unguarded = Unguarded()

switch CommandLine.arguments.dropFirst().first {
case "guarded":
    await both { _ in
        for _ in 0..<rounds { guarded.count.withLock { $0 += 1 } }
    }
case "published":
    // Only the lock orders the reader after the writer.
    for _ in 0..<100 {
        let box = Unguarded()
        let published = Guarded()
        await both { number in
            if number == 0 {
                for _ in 0..<1_000 { published.count.withLock { _ in } }
                box.value = 1
                published.count.withLock { $0 = 1 }
            } else {
                while published.count.withLock({ $0 }) == 0 {}
                box.value += 1
            }
        }
    }
case "unguarded":
    await both { _ in
        for _ in 0..<rounds { unguarded.value += 1 }
    }
case "two locks":
    await both { number in
        for _ in 0..<rounds { (number == 0 ? guarded : other).count.withLock { _ in unguarded.value += 1 } }
    }
case "after the lock":
    await both { _ in
        for _ in 0..<rounds {
            guarded.count.withLock { $0 += 1 }
            unguarded.value += 1
        }
    }
case "resumed early":
    // Another thread resumes the continuation before the task waits for it.
    for _ in 0..<100 { await waitForBox { _ in } }
case "after the resumption":
    for _ in 0..<100 { await waitForBox { $0.value = 2 } }
default:
    preconditionFailure("pass the name of a program in Proof.swift, not \(CommandLine.arguments.dropFirst())")
}
