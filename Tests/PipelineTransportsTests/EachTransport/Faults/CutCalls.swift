import Pipeline
import PipelineTesting
import TestSupport

/// Calls to a server that ends each connection.
///
/// Foundation on Linux sometimes misses the end of a connection: libcurl closes some sockets while their dispatch
/// sources are still registered, and the next socket with the same number, of whatever session, may report nothing.
/// Such a call waits for its timeout. If the server has closed the connection of a call that timed out, a new session
/// makes the call again.
struct CutCalls {
    private(set) var bench: FaultBench
    /// The number of calls that missed the end of their connection.
    private(set) var missedEndCount = 0
    private let transport: NetworkTransport
    private let server: LoopbackServer

    init(_ transport: NetworkTransport, to server: LoopbackServer) throws {
        self.transport = transport
        self.server = server
        bench = try Self.makeBench(transport)
    }

    private static func makeBench(_ transport: NetworkTransport) throws -> FaultBench {
        try FaultBench(transport.make(read: transport.missesEnds ? .seconds(5) : nil))
    }

    /// Returns the code of the error that a call fails with, or `nil` if it succeeds.
    mutating func failureCode(_ path: String, isStreaming: Bool = false) async throws -> PipelineError.Code? {
        let target = Probe(server, path)
        while true {
            let code = try await failureCode(target, isStreaming: isStreaming)
            guard transport.missesEnds, missedEndCount < 20, code?.isKind(of: .timeout) == true,
                server.activity.openConnectionCount == 0
            else { return code }
            missedEndCount += 1
            print("\(transport) missed that the server had closed the connection of \(path)")
            bench = try Self.makeBench(transport)
        }
    }

    private func failureCode(_ target: Probe, isStreaming: Bool) async throws -> PipelineError.Code? {
        guard isStreaming else { return try await bench.provider.failureCode(target) }
        do {
            for try await _ in try await bench.provider.stream(target).body {}
            return nil
        } catch let error as PipelineError {
            return error.code
        }
    }
}

extension NetworkTransport {
    /// Whether the transport may miss that the server has ended a connection, as with Foundation on Linux.
    fileprivate var missesEnds: Bool { endsProcessOnCutHead }
}
