import AsyncHTTPClient
import Foundation
import NIOCore
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// The transport's own timeouts; the fault tests check their effect on calls.
@Suite("AsyncHTTPClientTransport, timeouts", .tags(.concurrent), .realTime, .watched)
struct AsyncHTTPClientTimeoutTests {
    /// A response in two pieces, further apart than the given time.
    static func halves(_ time: Duration) -> [LoopbackServer.Action] {
        [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na"), .wait(time * 2.5), .send("b")]
    }

    @Test("readTimeout ends a slow body unless the call has its own idle timeout")
    func ownIdleTimeout() async throws {
        let data = await inSomeTime { time in
            let server = try LoopbackServer { _ in Self.halves(time) }
            defer { server.stop() }
            let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(readTimeout: time))
            try expectTimeout(.timeout(.idle), try await provider.failure(Probe(server)))
            var target = Probe(server)
            target.options.idleTimeout = .seconds(60)
            return try await provider.request(target).data
        }
        #expect(data == Data("ab".utf8))
    }

    @Test("readTimeout limits the time between two pieces, not the whole body, also on a reused connection")
    func slowBody() async throws {
        let pieceCount = 8
        let data = await inSomeTime { time -> Data in
            let server = try LoopbackServer { request in
                let isWhole = request.target != "/stall"
                let head = LoopbackServer.Action.send("HTTP/1.1 200 OK\r\nContent-Length: \(pieceCount)\r\n\r\na")
                return [head] + (1..<pieceCount).flatMap { _ in isWhole ? [.wait(time * 0.3), .send("a")] : [.stall] }
            }
            defer { server.stop() }
            let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(readTimeout: time))
            let data = try await provider.request(Probe(server)).data
            try expectTimeout(.timeout(.idle), try await provider.failure(Probe(server, "/stall")))
            #expect(server.activity.connectionCount == 1)
            return data
        }
        #expect(data == Data(repeating: 0x61, count: pieceCount))
    }

    @Test("An idle timeout of at least a second is enforced by the connection, without streaming the body")
    func enforcedIdleTimeout() async throws {
        let wanted = Mutex<[Bool]>([])
        let watch = PluginStack.willSend { _, context in wanted.withLock { $0.append(context.wantsStream) } }
        let data = await inSomeTime([.seconds(1), .seconds(3), .seconds(9)]) { time in
            let server = try LoopbackServer { request in
                request.target == "/stall" ? [Self.halves(time)[0], .stall] : Self.halves(time)
            }
            defer { server.stop() }
            let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(readTimeout: time / 2), plugins: [watch])
            var target = Probe(server)
            target.options.idleTimeout = time * 5
            let data = try await provider.request(target).data
            var stalled = Probe(server, "/stall")
            stalled.options.idleTimeout = time
            try expectTimeout(.timeout(.idle), try await provider.failure(stalled))
            return data
        }
        #expect(data == Data("ab".utf8))
        #expect(!wanted.withLock { $0 }.contains(true))
    }

    @Test("The timeouts apply to a shared client, too; without them, a call may take any time")
    func sharedClient() async throws {
        let server = try LoopbackServer { request in
            let halves = Self.halves(.seconds(1))
            return request.target == "/slow" ? [halves[0], .stall] : halves
        }
        defer { server.stop() }
        let client = HTTPClient(configuration: AsyncHTTPClientTransport.makeDefaultConfiguration())
        let time: Void? = await inSomeTime([.seconds(1), .seconds(3), .seconds(9)]) { time in
            let short = AsyncHTTPClientTransport(client: client, readTimeout: time)
            try expectTimeout(
                .timeout(.idle),
                try await Provider<Probe>(transport: short).failure(Probe(server, "/slow"))
            )
        }
        #expect(time != nil)
        let endless = AsyncHTTPClientTransport(client: client, readTimeout: nil, writeTimeout: nil)
        let task = RequestTask.requestData(Data(count: 1 << 20))
        let response = try await Provider<Probe>(transport: endless).request(Probe(server, method: .put, task: task))
        #expect(response.data == Data("ab".utf8))
        #expect(server.requests.last?.body.count == 1 << 20)
        try await client.shutdown()
    }

    static func configuration(connect: TimeAmount) -> HTTPClient.Configuration {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.timeout.connect = connect
        return configuration
    }

    @Test("C14 headTimeout and readTimeout start when the exchange has its connection", arguments: [true, false])
    func connectionWait(isHead: Bool) async throws {
        let wait = await inSomeTime { time -> Double in
            let server = try LoopbackServer { $0.target == "/busy" ? Self.halves(time) : [.respond(200)] }
            defer { server.stop() }
            let transport = AsyncHTTPClientTransport(
                configuration: Self.configuration(connect: .seconds(300)),
                connectionsPerHost: 1,
                headTimeout: isHead ? time : nil,
                readTimeout: isHead ? nil : time
            )
            let provider = Provider<Probe>(transport: transport)
            var busy = Probe(server, "/busy")
            busy.options.idleTimeout = .seconds(300)
            async let first = provider.request(busy)
            try await server.wait { $0.requestCount == 1 }
            let second = try await provider.request(Probe(server, "/late"))
            _ = try await first
            return (second.exchanges.first?.connectionWait ?? .zero) / time
        }
        // In units of the timeout.
        #expect(try #require(wait) > 1.5)
    }

    @Test("A timeout of zero or less stops the program")
    func nonsense() async {
        await #expect(processExitsWith: .failure) { _ = AsyncHTTPClientTransport(headTimeout: .zero) }
        await #expect(processExitsWith: .failure) { _ = AsyncHTTPClientTransport(readTimeout: .zero) }
        await #expect(processExitsWith: .failure) { _ = AsyncHTTPClientTransport(writeTimeout: .seconds(-1)) }
    }
}
