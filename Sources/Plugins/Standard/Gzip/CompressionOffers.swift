import Synchronization

/// The resources whose server said that it decodes gzip in requests.
///
/// Beyond 1,000, the oldest is forgotten.
final class CompressionOffers: Sendable {
    private struct State {
        /// The numbers of the offers, which grow.
        var offers: [String: Int] = [:]
        var lastNumber = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int = 1_000) {
        self.limit = limit
    }

    func contains(_ resource: String) -> Bool {
        state.withLock { $0.offers[resource] != nil }
    }

    /// Takes note of the values of Accept-Encoding in a response; without any, what was known remains.
    func note(_ values: [String], of resource: String) {
        guard !values.isEmpty else { return }
        guard values.contains(where: Self.offersGzip) else { return withdraw(resource) }
        state.withLock { state in
            guard state.offers[resource] == nil else { return }
            if state.offers.count >= limit, let oldest = state.offers.min(by: { $0.value < $1.value }) {
                state.offers[oldest.key] = nil
            }
            state.lastNumber += 1
            state.offers[resource] = state.lastNumber
        }
    }

    func withdraw(_ resource: String) {
        state.withLock { $0.offers[resource] = nil }
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
