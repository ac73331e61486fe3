import Foundation
import Synchronization

/// The retry balances of a limited number of hosts.
struct RetryLedger: Sendable {
    static let maximumHostCount = 1_000

    private let budget: RetryBudget
    private let maximumHostCount: Int
    private var balances: [String: RetryBalance] = [:]

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

    private mutating func makeRoom(for host: String) {
        guard balances.count >= maximumHostCount, balances[host] == nil else { return }
        guard let oldest = balances.min(by: { $0.value.slice < $1.value.slice }) else { return }
        balances[oldest.key] = nil
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
