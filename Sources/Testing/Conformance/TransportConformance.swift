import Foundation
public import PipelineCore

/// A conformance suite that checks the rules for every transport.
///
/// Each check sends targets through a ``/Pipeline/Provider`` to a ``LoopbackServer``. The targets have sample responses
/// that equal the server's, so the suite also runs against transports that use no network. It also ends, and reports
/// the violation, if a transport ignores cancellation.
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
    /// The source of the transport's responses.
    public struct Kind: Sendable, Hashable {
        let sendsBytes: Bool
        /// Whether bodies are passed on unchanged, whatever coding they name.
        let leavesCodings: Bool

        /// The responses come from the server in the URL.
        public static let network = Kind(sendsBytes: true, leavesCodings: false)
        /// The responses are the endpoint's sample response or the target's sample data.
        ///
        /// Checks that need a network are skipped.
        public static let sampled = Kind(sendsBytes: false, leavesCodings: true)
        /// The responses come from a recording of the same checks.
        ///
        /// Checks that need a network are skipped. The server's port differs from the recorded one.
        public static let recorded = Kind(sendsBytes: false, leavesCodings: false)
    }

    private let kind: Kind
    private let patience: Duration
    private let makeTransport: @Sendable () -> any Transport

    /// Creates a suite for a transport.
    ///
    /// - Parameters:
    ///   - kind: the source of the transport's responses; defaults to ``Kind/network``.
    ///   - patience: the time after which a check counts as hung; defaults to 180 s.
    ///   - makeTransport: returns a new transport for each check.
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
    var checkNames: [String] { checks.map(\.name) }

    /// Runs all checks, one after another.
    ///
    /// - Returns: the violations; empty for a transport that conforms.
    public func run() async -> [ConformanceViolation] {
        var violations: [ConformanceViolation] = []
        for check in checks {
            if let message = await failure(of: check) {
                violations.append(ConformanceViolation(check: check.name, message: message))
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
        // No task group, which would wait for a transport that ignores cancellation.
        let call = ObservedCall { try await check.run(bench) }
        await Patience.wait(patience, moving: nil) { call.hasEnded }
        // Read first: a check that has hung may end because it is cancelled.
        let outcome = call.outcome
        call.cancel()
        return switch outcome {
        case .value: nil
        case .failure(let failure as ConformanceCheck.Failure): failure.message
        case .failure(let error): "it threw \(error)"
        case .cancelled: "it threw CancellationError"
        case .hung: "it did not end in \(patience); a transport must throw as soon as its task is cancelled"
        }
    }
}
