import PipelineCore
import Synchronization

/// What a plugin keeps for a partition.
protocol PartitionObject: AnyObject, Sendable {
    /// Whether it can be forgotten without harm, because no call uses it.
    func isIdle(at now: PipelineClock.Instant) -> Bool

    /// Whether it holds back no calls, so that it is forgotten before those that do.
    var isPermissive: Bool { get }
}

extension PartitionObject {
    /// The default, `false`: objects that are not idle are forgotten in the order of their last use.
    var isPermissive: Bool { false }
}

/// The objects of a limited number of partitions, in the order of their last use.
///
/// Each use and each new partition takes constant time. A party that chooses URLs can make many partitions. A full map
/// therefore forgets idle objects first, then those that hold back no calls, such as closed circuits, and only then
/// others, such as open circuits. Of the first two, those of a domain that has a tenth of the map go before others.
final class PartitionMap<Object: PartitionObject>: Sendable {
    private struct Entry {
        let key: TrafficKey
        let domain: Substring
        let object: Object
        /// The entries that were used just before and just after this one.
        var earlier: Int?
        var later: Int?
    }

    private struct State {
        var places: [TrafficKey: Int] = [:]
        var entries: [Entry] = []
        var oldest: Int?
        var latest: Int?
        /// The number of entries of each domain.
        var counts: [Substring: Int] = [:]

        mutating func use(_ place: Int) {
            guard place != latest else { return }
            unlink(place)
            link(place)
        }

        mutating func unlink(_ place: Int) {
            let (earlier, later) = (entries[place].earlier, entries[place].later)
            if let earlier { entries[earlier].later = later } else { oldest = later }
            if let later { entries[later].earlier = earlier } else { latest = earlier }
        }

        /// Makes an entry the latest.
        mutating func link(_ place: Int) {
            (entries[place].earlier, entries[place].later) = (latest, nil)
            if let latest { entries[latest].later = place } else { oldest = place }
            latest = place
        }

        /// The entries that were not used for the longest time.
        func oldest(_ count: Int) -> [Entry] {
            var found: [Entry] = []
            var next = oldest
            while let place = next, found.count < count {
                found.append(entries[place])
                next = entries[place].later
            }
            return found
        }
    }

    /// How many entries are looked at to find one that can be forgotten.
    private static var candidateCount: Int { 32 }

    private let maximumCount: Int
    private let state = Mutex(State())

    init(maximumCount: Int = 1_000) {
        self.maximumCount = maximumCount
    }

    /// Returns the object of a partition, which is made when it is first needed.
    func object(for key: TrafficKey, on clock: PipelineClock, make: () -> Object) -> Object {
        let known = state.withLock { state -> Object? in
            guard let place = state.places[key] else { return nil }
            state.use(place)
            return state.entries[place].object
        }
        return known ?? add(make(), for: key, at: clock.now)
    }

    /// Adds an object, unless another thread has added one in the meantime.
    @inline(never)
    private func add(_ object: Object, for key: TrafficKey, at now: PipelineClock.Instant) -> Object {
        let domain = key.domain
        let (candidates, isLarge) = state.withLock { state -> ([Entry], Bool) in
            guard state.entries.count >= maximumCount else { return ([], false) }
            return (state.oldest(Self.candidateCount), state.counts[domain, default: 0] * 10 >= maximumCount)
        }
        // Idleness is asked outside the lock, because the objects have locks of their own.
        func first(_ isLeaving: (Object) -> Bool) -> Entry? {
            let leaving = candidates.filter { isLeaving($0.object) }
            return (isLarge ? leaving.first { $0.domain == domain } : nil) ?? leaving.first
        }
        let leaving = first { $0.isIdle(at: now) } ?? first(\.isPermissive) ?? candidates.first
        return state.withLock { state in
            if let place = state.places[key] { return state.entries[place].object }
            var place = state.entries.count
            if place >= maximumCount {
                // Those in use get another turn, so that the next search does not begin with them.
                for busy in candidates.prefix(while: { $0.key != leaving?.key }) {
                    if let place = state.places[busy.key] { state.use(place) }
                }
                guard let free = leaving.flatMap({ state.places[$0.key] }) ?? state.oldest else { return object }
                let left = state.entries[free]
                state.unlink(free)
                state.places[left.key] = nil
                state.counts[left.domain, default: 1] -= 1
                if state.counts[left.domain] == 0 { state.counts[left.domain] = nil }
                place = free
            }
            let entry = Entry(key: key, domain: domain, object: object)
            if place < state.entries.count { state.entries[place] = entry } else { state.entries.append(entry) }
            state.places[key] = place
            state.counts[domain, default: 0] += 1
            state.link(place)
            return object
        }
    }

    /// The object of a partition; `nil` if it has not been used.
    subscript(key: TrafficKey) -> Object? {
        state.withLock { state in state.places[key].map { state.entries[$0].object } }
    }

    /// All partitions with their objects.
    var all: [(key: TrafficKey, object: Object)] {
        state.withLock { $0.entries.map { ($0.key, $0.object) } }
    }
}

extension TrafficKey {
    /// What keys have in common whose hosts may belong to one party: the last two labels of the host.
    fileprivate var domain: Substring {
        let host = text.prefix { $0 != ":" && $0 != " " }
        guard scheme != nil, let last = host.lastIndex(of: ".") else { return host }
        let rest = host[..<last]
        return rest.lastIndex(of: ".").map { host[host.index(after: $0)...] } ?? host
    }
}
