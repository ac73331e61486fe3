import Foundation
public import Pipeline

/// What every transport has to do, as one suite.
///
/// Each check sends targets through a ``Pipeline/Provider`` to a ``LoopbackServer``; their sample responses are what the
/// server answers, so that the same suite runs against transports that use no network.
///
/// ```swift
/// @Test("MyTransport does what every transport has to do")
/// func conformance() async {
///     let violations = await TransportConformance { MyTransport() }.run()
///     #expect(violations.isEmpty, "\(violations)")
/// }
/// ```
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `kind` | ``Kind/network`` |
/// | `patience` | 180 s for each check, in real time |
public struct TransportConformance: Sendable {
    /// Where answers come from.
    public struct Kind: Sendable, Hashable {
        let sendsBytes: Bool
        /// Whether bodies are handed over as they are, whatever coding they name.
        let leavesCodings: Bool

        /// From the server that the URL names.
        public static let network = Kind(sendsBytes: true, leavesCodings: false)
        /// From the endpoint's sample response or the target's sample data.
        ///
        /// Checks of what only a network does are left out.
        public static let sampled = Kind(sendsBytes: false, leavesCodings: true)
        /// From a recording of the same checks.
        ///
        /// Checks of what only a network does are left out. The server has another port than when it was recorded.
        public static let recorded = Kind(sendsBytes: false, leavesCodings: false)
    }

    /// Something that a transport does wrong.
    public struct Violation: Sendable, Hashable, CustomStringConvertible {
        /// The name of the check.
        public let check: String
        /// What was expected and what was found.
        public let message: String

        /// Name and message.
        public var description: String { "\(check): \(message)" }
    }

    private let kind: Kind
    private let patience: Duration
    private let makeTransport: @Sendable () -> any Transport

    /// Makes a suite.
    ///
    /// - Parameters:
    ///   - kind: where answers come from.
    ///   - patience: how long a check may take before it counts as hung.
    ///   - makeTransport: makes a transport for each check.
    public init(
        _ kind: Kind = .network,
        patience: Duration = .seconds(180),
        makeTransport: @escaping @Sendable () -> any Transport
    ) {
        self.kind = kind
        self.patience = patience
        self.makeTransport = makeTransport
    }

    /// The names of the checks that will run.
    public var checkNames: [String] { checks.map(\.name) }

    /// Runs all checks, one after the other.
    ///
    /// - Returns: what went wrong, nothing for a transport that does what it has to.
    public func run() async -> [Violation] {
        var violations: [Violation] = []
        for check in checks {
            if let message = await failure(of: check) {
                violations.append(Violation(check: check.name, message: message))
            }
        }
        return violations
    }

    private var checks: [ConformanceCheck] {
        ConformanceCheck.all.filter { kind.sendsBytes || !$0.needsNetwork }
    }

    private func failure(of check: ConformanceCheck) async -> String? {
        let bench: ConformanceBench
        do {
            bench = try ConformanceBench(transport: makeTransport(), kind: kind)
        } catch {
            return "the server did not start: \(error)"
        }
        defer { bench.server.stop() }
        return await withTaskGroup(of: String?.self) { group in
            group.addTask { await Self.message(of: check, bench) }
            group.addTask { [patience] in
                guard (try? await ContinuousClock().sleep(for: patience)) != nil else { return nil }
                bench.server.stop()
                return "it did not end in \(patience)"
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    private static func message(of check: ConformanceCheck, _ bench: ConformanceBench) async -> String? {
        do {
            try await check.run(bench)
            return nil
        } catch let failure as ConformanceFailure {
            return failure.message
        } catch {
            return "it threw \(error)"
        }
    }
}
