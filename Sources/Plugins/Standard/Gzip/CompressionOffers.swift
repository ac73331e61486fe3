import Synchronization

/// The resources whose server said that it decodes gzip in requests.
///
/// Beyond 1,000, the oldest is forgotten.
final class CompressionOffers: Sendable {
    private struct State {
        var resources: Set<String> = []
        /// In the order of their offers; some have been withdrawn since.
        var order: [String] = []
        /// The place of the oldest offer, once there are as many as the limit allows.
        var oldest = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int = 1_000) {
        self.limit = limit
    }

    func contains(_ resource: String) -> Bool {
        state.withLock { $0.resources.contains(resource) }
    }

    /// Takes note of the values of Accept-Encoding in a response; without any, what was known remains.
    func note(_ values: [String], of resource: String) {
        guard !values.isEmpty else { return }
        if values.contains(where: Self.offersGzip) { add(resource) } else { withdraw(resource) }
    }

    func withdraw(_ resource: String) {
        state.withLock { _ = $0.resources.remove(resource) }
    }

    private func add(_ resource: String) {
        state.withLock { state in
            guard state.resources.insert(resource).inserted else { return }
            guard state.order.count == limit else { return state.order.append(resource) }
            let forgotten = state.order[state.oldest]
            state.order[state.oldest] = resource
            state.oldest = (state.oldest + 1) % limit
            if forgotten != resource { state.resources.remove(forgotten) }
        }
    }

    /// Returns whether a value names gzip with a weight of more than zero.
    private static func offersGzip(_ value: String) -> Bool {
        value.split(separator: ",").contains { element in
            let parts = element.split(separator: ";", omittingEmptySubsequences: false).map {
                $0.filter { $0 != " " && $0 != "\t" }.lowercased()
            }
            guard let coding = parts.first, ["gzip", "x-gzip"].contains(coding) else { return false }
            return !parts.dropFirst().contains { $0.hasPrefix("q=") && Double($0.dropFirst(2)) == 0 }
        }
    }
}
