import Foundation

/// The pins of a rule.
struct PinSet: Sendable {
    let pins: Set<TrustPin>
    let expiry: Date?
    let mode: TrustPolicy.PinMode

    /// Returns whether a connection without a matching pin must not be used.
    func isEnforced(at date: Date) -> Bool { mode == .enforce && !hasExpired(at: date) }

    private func hasExpired(at date: Date) -> Bool { expiry.map { date >= $0 } ?? false }

    /// Returns what a transport does with a server's key; `nil` if it has nothing to report.
    ///
    /// - Parameters:
    ///   - pin: the pin of the key; `nil` if the key cannot be read.
    ///   - date: the time of the handshake.
    /// - Returns: the outcome to report, or `nil`.
    func outcome(of pin: TrustPin?, at date: Date) -> TrustReport.Outcome? {
        if hasExpired(at: date) { return .expired }
        if let pin, pins.contains(pin) { return nil }
        return mode == .enforce ? .rejected : .audited
    }
}
