import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// A transport that is exposed to faults, and what must hold after each of them.
final class FaultBench: Sendable {
    /// A response of 400 bytes.
    static let response = Data(head.utf8) + Data(repeating: UInt8(ascii: "b"), count: 300)
    static let headByteCount = head.utf8.count
    private static let head =
        "HTTP/1.1 200 OK\r\nContent-Length: 300\r\nX-Pad: " + String(repeating: "p", count: 51) + "\r\n\r\n"

    let clock = ManualClock()
    let provider: Provider<Probe>
    private let balance: Balance
    private let healthy: LoopbackServer

    /// The numbers of exchanges that began and ended.
    private final class Balance: Sendable {
        let counts = Mutex((sent: 0, ended: 0))
    }

    init(_ transport: any Transport) throws {
        let balance = Balance()
        self.balance = balance
        healthy = try LoopbackServer { _ in [.respond(200, body: "next")] }
        provider = Provider(
            transport: transport,
            plugins: [
                .willSend { _, _ in balance.counts.withLock { $0.sent += 1 } },
                .didReceive { _, _ in balance.counts.withLock { $0.ended += 1 } },
            ],
            configuration: .init(redirects: .never, clock: clock)
        )
    }

    /// Checks what must hold after every fault.
    ///
    /// I1: every exchange ended exactly once. I3: no connection to the server is left. I4: the next call succeeds; it
    /// is retried because a short timeout of the transport may pass on a busy machine.
    func expectSound(_ server: LoopbackServer? = nil, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let (sent, ended) = balance.counts.withLock { $0 }
        #expect(sent == ended, sourceLocation: sourceLocation)
        try await server?.wait { $0.openConnectionCount == 0 }
        let next = await inSomeTime(Array(repeating: .zero, count: 20)) { _ in
            try await provider.request(Probe(healthy)).data
        }
        #expect(next == Data("next".utf8), sourceLocation: sourceLocation)
    }
}

/// Runs an operation again, with a longer time, as long as it hits an unexpected timeout.
///
/// For tests of a transport's real-time timeouts: on a busy machine, a short one may pass before the server responds.
///
/// - Returns: The result of the first run without an unexpected timeout, or `nil` if there is none.
func inSomeTime<Value>(
    _ times: [Duration] = [.seconds(1), .seconds(4), .seconds(16)],
    _ body: (Duration) async throws -> Value
) async -> Value? {
    for time in times {
        do {
            return try await body(time)
        } catch let error as PipelineError where error.code.isKind(of: .timeout) {
            continue
        } catch is NotInTime {
            continue
        } catch {
            Issue.record(error)
            return nil
        }
    }
    return nil
}

/// An expected timeout did not occur, because the machine was too busy to notice it.
private struct NotInTime: Error {}

/// Expects a timeout; makes ``inSomeTime(_:_:)`` try again if there was another one, or none.
func expectTimeout(
    _ code: PipelineError.Code,
    _ error: PipelineError?,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    guard let error else { throw NotInTime() }
    if error.code.isKind(of: .timeout), error.code != code { throw error }
    #expect(error.code == code, sourceLocation: sourceLocation)
}

extension NetworkTransport {
    /// Whether a connection that ends within the header fields crashes the process, as with Foundation on Linux.
    var endsProcessOnCutHead: Bool {
        #if canImport(FoundationNetworking)
        self == .urlSession
        #else
        false
        #endif
    }

    /// Whether the transport resends a request that died on a reused connection: one with a safe method, or with
    /// Foundation on Linux any request.
    func repeats(_ method: HTTPRequest.Method) -> Bool {
        switch self {
        case .urlSession: return endsProcessOnCutHead
        #if AsyncHTTPClient
        case .asyncHTTPClient: return method == .get
        #endif
        }
    }

    /// Whether a redirect is delivered only after its body has ended, as with Foundation on Linux.
    var holdsRedirectBodies: Bool { endsProcessOnCutHead }

    /// The byte counts at which a response may be cut.
    func cuts(from first: Int = 0) -> [Int] {
        let all = Array(first..<FaultBench.response.count)
        return endsProcessOnCutHead ? all.filter { $0 == 0 || $0 >= FaultBench.headByteCount } : all
    }
}
