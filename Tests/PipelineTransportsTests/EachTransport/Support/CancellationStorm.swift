import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// Runs 300 calls, each cancelled after some yields, every third one a stream.
///
/// Returns the server that they called.
func runCancellationStorm(on transport: any Transport) async throws -> LoopbackServer {
    let server = try LoopbackServer { request in
        switch request.target.utf8.reduce(0, { $0 &+ Int($1) }) % 4 {
        case 0: [.respond(200, body: "hello")]
        case 1: [.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .send("two")]
        case 2: [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")]
        // Announced beforehand: on a connection that ends without notice, the next call could be lost.
        default: [.respond(200, headers: [("Connection", "close")], body: Data(count: 50_000)), .close]
        }
    }
    let provider = Provider<Probe>(transport: transport)
    var random = PipelineRandom.seeded(0x5eed)
    var outcomes = 0
    try await withThrowingTaskGroup(of: Bool.self) { group in
        for index in 0..<300 {
            let target = Probe(server, "/\(index)")
            let isStreaming = index % 3 == 0
            let call = Task {
                guard isStreaming else {
                    _ = try await provider.request(target)
                    return
                }
                for try await _ in try await provider.stream(target).body {}
            }
            let yieldCount = Int.random(in: 0...300, using: &random)
            group.addTask {
                for _ in 0..<yieldCount { await Task.yield() }
                call.cancel()
                do {
                    try await call.value
                } catch is CancellationError {}
                return true
            }
        }
        for try await _ in group { outcomes += 1 }
    }
    #expect(outcomes == 300)
    #expect(try await provider.request(Probe(server, "/next")).statusCode == 200)
    return server
}
