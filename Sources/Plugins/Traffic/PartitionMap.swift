import Pipeline
import Synchronization

/// What a plugin keeps for a partition.
protocol PartitionObject: AnyObject, Sendable {
    /// Whether it can be forgotten without harm, because no call uses it.
    func isIdle(at now: PipelineClock.Instant) -> Bool
}

/// The objects of a limited number of partitions.
final class PartitionMap<Object: PartitionObject>: Sendable {
    private struct Entry {
        let object: Object
        var lastUse: UInt64
    }

    private struct State {
        var entries: [TrafficKey: Entry] = [:]
        var useCount: UInt64 = 0
    }

    private let maximumCount: Int
    private let state = Mutex(State())

    init(maximumCount: Int = 1_000) {
        self.maximumCount = maximumCount
    }

    /// Returns the object of a partition, which is made when it is first needed.
    func object(for key: TrafficKey, on clock: PipelineClock, make: () -> Object) -> Object {
        let known = state.withLock { state -> Object? in
            state.useCount += 1
            let use = state.useCount
            guard let index = state.entries.index(forKey: key) else { return nil }
            state.entries.values[index].lastUse = use
            return state.entries.values[index].object
        }
        return known ?? add(make(), for: key, at: clock.now)
    }

    /// Adds an object, unless another thread has added one in the meantime.
    @inline(never)
    private func add(_ object: Object, for key: TrafficKey, at now: PipelineClock.Instant) -> Object {
        let candidates = state.withLock { state in
            state.entries.count >= maximumCount && state.entries[key] == nil
                ? state.entries.map { (key: $0.key, entry: $0.value) } : []
        }
        // Idleness is asked outside the lock, because the objects have locks of their own.
        let oldest = candidates.sorted { $0.entry.lastUse < $1.entry.lastUse }
        let leaving = (oldest.first { $0.entry.object.isIdle(at: now) } ?? oldest.first)?.key
        return state.withLock { state in
            if let known = state.entries[key]?.object { return known }
            if let leaving, state.entries.count >= maximumCount { state.entries[leaving] = nil }
            state.entries[key] = Entry(object: object, lastUse: state.useCount)
            return object
        }
    }

    /// The object of a partition; `nil` if it has not been used.
    subscript(key: TrafficKey) -> Object? { state.withLock { $0.entries[key]?.object } }

    /// All partitions with their objects.
    var all: [(key: TrafficKey, object: Object)] {
        state.withLock { $0.entries.map { ($0.key, $0.value.object) } }
    }
}
