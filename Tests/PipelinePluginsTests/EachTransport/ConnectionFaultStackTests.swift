import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// The rows of the fault matrix that involve a plugin.
@Suite("Connection faults under plugins", .tags(.concurrent), .realTime, .watched)
struct ConnectionFaultStackTests {
    private static var transports: [any Transport] {
        #if AsyncHTTPClient
        [URLSessionTransport(), AsyncHTTPClientTransport()]
        #else
        [URLSessionTransport()]
        #endif
    }

    @Test(
        "C02: a name that does not resolve is looked up as often as maximumAttempts allows, and no more",
        arguments: 0..<transports.count
    )
    func dns(index: Int) async throws {
        let provider = Provider<Ask>(
            transport: Self.transports[index],
            plugins: [RetryPlugin(maximumAttempts: 3, backoff: .immediate)]
        )
        let host = String(repeating: "a", count: 64) + ".invalid"
        let error = await Task { try await provider.request(Ask(url: "http://\(host)")) }.pipelineError
        // A machine without a network reports `offline`.
        #expect(error?.code == .dns || error?.code == .offline)
        #expect(error?.exchanges.count == 3)
    }

    @Test(
        "C06: a GET that fails on a reused and then a new connection is retried and succeeds; a POST is not retried",
        arguments: 0..<transports.count
    )
    func reusedConnection(index: Int) async throws {
        let transport = Self.transports[index]
        let server = try LoopbackServer { request in
            request.target == "/first" || request.values(of: "User-Agent") == ["2"] ? [.respond(200)] : [.close]
        }
        defer { server.stop() }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [
                RetryPlugin(backoff: .immediate),
                .prepare { request, context in
                    request.headers.append(.init(name: .userAgent, value: "\(context.attempt)"))
                },
            ]
        )
        let url = "\(server.url)"
        _ = try await provider.request(Ask(url: url, path: "first"))
        let response = try await provider.request(Ask(url: url, path: "get"))
        #expect(response.exchanges.map(\.failure) == [.connectionLost, nil])
        _ = try await provider.request(Ask(url: url, path: "first"))
        let error = await Task { try await provider.request(Ask(url: url, path: "post", method: .post)) }.pipelineError
        #expect(error?.code == .connectionLost)
        #expect(error?.exchanges.count == 1)
        // Each transport repeats a GET that fails on a reused connection; Foundation on Linux also repeats a POST.
        #expect(server.requests.count { $0.target == "/get" } == 3)
        #expect(server.requests.count { $0.target == "/post" } == (repeatsPost(transport) ? 2 : 1))
    }

    @Test("C12: TimeoutPlugin's total timeout ends a body that arrives slowly", arguments: 0..<transports.count)
    func drip(index: Int) async throws {
        let clock = ManualClock()
        let drips = (0..<20).flatMap { [LoopbackServer.Action.send("b"), .hold("\($0)")] }
        let server = try LoopbackServer { _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")] + drips }
        defer { server.stop() }
        let provider = Provider<Ask>(
            transport: Self.transports[index],
            plugins: [TimeoutPlugin(total: .seconds(30), idle: .seconds(5))],
            configuration: .init(clock: clock)
        )
        let response = try await provider.stream(Ask(url: "\(server.url)"))
        var byteCount = 0
        let error = await #expect(throws: PipelineError.self) {
            for try await chunk in response.body {
                for number in byteCount..<byteCount + chunk.count {
                    clock.advance(by: .seconds(4))
                    server.release("\(number)")
                }
                byteCount += chunk.count
            }
        }
        #expect(error?.code == .timeout(.total))
        #expect(byteCount == 8)
        for number in 0..<20 { server.release("\(number)") }
        try await server.wait { $0.openConnectionCount == 0 }
    }

    private func repeatsPost(_ transport: any Transport) -> Bool {
        #if canImport(FoundationNetworking)
        transport is URLSessionTransport
        #else
        false
        #endif
    }
}
