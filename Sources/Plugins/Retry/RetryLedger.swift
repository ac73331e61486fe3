import Foundation
import Synchronization

/// The retry balances of a limited number of hosts.
struct RetryLedger: Sendable {
    static let maximumHostCount = 1_000

    private let budget: RetryBudget
    private let maximumHostCount: Int
    private var balances: [String: RetryBalance] = [:]
    /// The hosts with a balance, each in a place of its own.
    private var hosts: [String] = []
    /// The place from which the next host to leave is looked for.
    private var hand = 0

    init(_ budget: RetryBudget, maximumHostCount: Int = RetryLedger.maximumHostCount) {
        self.budget = budget
        self.maximumHostCount = maximumHostCount
    }

    var hostCount: Int { balances.count }

    mutating func addCall(to host: String, at date: Date) {
        guard !budget.isUnlimited else { return }
        makeRoom(for: host)
        balances[host, default: RetryBalance(budget, at: date)].addCall(at: date)
    }

    mutating func takeRetry(to host: String, at date: Date) -> Bool {
        guard !budget.isUnlimited else { return true }
        makeRoom(for: host)
        return balances[host, default: RetryBalance(budget, at: date)].takeRetry(at: date)
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

/// A ledger that all copies of a plugin share.
final class SharedRetryLedger: Sendable {
    private let ledger: Mutex<RetryLedger>

    init(_ budget: RetryBudget) {
        ledger = Mutex(RetryLedger(budget))
    }

    /// Identifies this ledger among others.
    var identity: ObjectIdentifier { ObjectIdentifier(self) }

    func addCall(to host: String, at date: Date) {
        ledger.withLock { $0.addCall(to: host, at: date) }
    }

    func takeRetry(to host: String, at date: Date) -> Bool {
        ledger.withLock { $0.takeRetry(to: host, at: date) }
    }
}
