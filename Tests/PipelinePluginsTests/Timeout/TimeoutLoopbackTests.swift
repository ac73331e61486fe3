import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("TimeoutPlugin over loopback HTTP", .tags(.concurrent), .realTime, .watched)
struct TimeoutLoopbackTests {
    private let clock = ManualClock()

    private func provider(_ plugins: any PluginType...) -> Provider<Ask> {
        Provider(transport: URLSessionTransport(), plugins: plugins, configuration: .init(clock: clock))
    }

    @Test(
        "C08 A server that stalls at any byte causes a timeout, the connection closes and the next call works"
    )
    func stalls() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 300\r\nX-Pad: " + String(repeating: "p", count: 51) + "\r\n\r\n"
        let answer = Data(head.utf8) + Data(repeating: 7, count: 300)
        #expect(answer.count == 400)
        let server = try LoopbackServer { request in
            guard let count = Int(request.target.dropFirst()) else { return [.respond(200)] }
            return [.send(answer.prefix(count)), .hold("sent \(count)"), .stall]
        }
        defer { server.stop() }
        let provider = provider(TimeoutPlugin(attempt: .seconds(1_000), idle: .seconds(2)))
        for (number, count) in stride(from: 0, to: 400, by: 23).enumerated() {
            let call = Task { try await provider.request(Ask(url: "\(server.url)", path: "\(count)")) }
            try await server.wait { $0.holdCount == number + 1 }
            let isHead = count < head.utf8.count
            let hasEnded = Atomic(false)
            let ended = Task {
                defer { hasEnded.store(true, ordering: .releasing) }
                return await call.pipelineError
            }
            // Bytes that arrive late restart the wait for the next ones.
            await eventually {
                if clock.sleeperCount >= (isHead ? 1 : 2) { clock.advance(by: .seconds(isHead ? 1_000 : 2)) }
                return hasEnded.load(ordering: .acquiring)
            }
            #expect(await ended.value?.code == .timeout(isHead ? .attempt : .idle))
            server.release("sent \(count)")
        }
        #expect(try await provider.request(Ask(url: "\(server.url)", path: "whole")).statusCode == 200)
        try await server.wait { $0.openConnectionCount <= 1 }
    }
}
