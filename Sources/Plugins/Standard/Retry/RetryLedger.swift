import Foundation

/// The retry balances of a limited number of hosts.
struct RetryLedger: Sendable {
    static let maximumHostCount = 1_000

    /// `nil` without a limit.
    private let settings: RetryBudget.Settings?
    private let maximumHostCount: Int
    private var balances: [String: RetryBalance] = [:]
    /// The hosts with a balance, each in a place of its own.
    private var hosts: [String] = []
    /// The place from which the next host to leave is looked for.
    private var hand = 0

    init(_ settings: RetryBudget.Settings?, maximumHostCount: Int = RetryLedger.maximumHostCount) {
        self.settings = settings
        self.maximumHostCount = maximumHostCount
    }

    var hostCount: Int { balances.count }

    mutating func addCall(to host: String, at date: Date) {
        guard let settings else { return }
        makeRoom(for: host)
        balances[host, default: RetryBalance(settings, at: date)].addCall(at: date)
    }

    mutating func takeRetry(to host: String, at date: Date) -> Bool {
        guard let settings else { return true }
        makeRoom(for: host)
        return balances[host, default: RetryBalance(settings, at: date)].takeRetry(at: date)
    }

    /// Makes room for a host, in constant time: of 16 hosts, the one that was used the longest time ago leaves, and one
    /// that has retries left before one that has none.
    private mutating func makeRoom(for host: String) {
        guard balances[host] == nil else { return }
        guard hosts.count >= maximumHostCount else { return hosts.append(host) }
        let places = (0..<min(16, hosts.count)).map { (hand + $0) % hosts.count }
        hand = (hand + places.count) % hosts.count
        let oldest = places.min { age(at: $0) < age(at: $1) } ?? hand
        balances[hosts[oldest]] = nil
        hosts[oldest] = host
    }

    private func age(at place: Int) -> (Double, Int) {
        guard let balance = balances[hosts[place]] else { return (-.infinity, 0) }
        return (balance.slice, balance.isSpent ? 1 : 0)
    }
}
