import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// The samples of the guide WriteATransport.
enum WriteATransportSamples {
    // sample: demo
    /// Responds from a dictionary of paths, for a demo without a server.
    struct DemoTransport: Transport {
        let bodies: [String: String]
        var latency = Duration.zero
        let decodesContent = false

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            try await context.clock.sleep(for: latency)  // ends at once if the call is cancelled
            guard let body = bodies[request.path] else { return PipelineResponse(request: request, statusCode: 404) }
            return PipelineResponse(
                request: request,
                statusCode: 200,
                headers: [.contentType: "application/json"],
                data: request.method == .head ? Data() : Data(body.utf8)
            )
        }
    }
    // end

    typealias Book = ReadmeProgram.Book

    static func title() async throws -> String {
        // sample: use
        let transport = DemoTransport(bodies: ["/v1/books/3": #"{"title": "Solaris", "author": "Lem"}"#])
        let client = Provider<URLTarget>(transport: transport)
        let book = try await client.get("https://library.example/v1/books/3", as: Book.self)
        // end
        return book.title
    }

    // sample: wrapper
    /// Passes requests on to another transport, or fails as a device without a network does.
    struct FlightModeTransport: Transport {
        let wrapped: any Transport
        let isOn: @Sendable () -> Bool

        var decodesContent: Bool { wrapped.decodesContent }
        func enforcesIdleTimeout(_ timeout: Duration) -> Bool { wrapped.enforcesIdleTimeout(timeout) }
        func identity(for request: PipelineRequest) -> String? { wrapped.identity(for: request) }

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            guard !isOn() else { throw PipelineError(.offline, "flight mode is on") }
            return try await wrapped.send(request, context: context)
        }
    }
    // end

    protocol ConnectionPool: Sendable {
        func connection(to request: PipelineRequest) async throws -> any Connection
    }

    protocol Connection: Sendable {
        var pieces: AsyncThrowingStream<Data, any Error> { get }

        func write(_ head: HTTPRequest) async throws
        func write(_ piece: Data) async throws
        func readHead() async throws -> HTTPResponse
    }

    // sample: pool
    /// Sends requests over the connections of a pool.
    struct PoolTransport: Transport {
        let pool: any ConnectionPool
        let decodesContent = false

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            context.report(.connectionAwaited)
            let connection = try await pool.connection(to: request)
            context.report(.connection())
            try await connection.write(request.head)
            var sentByteCount = 0
            for try await piece in request.body.chunks() {
                try await connection.write(piece)
                sentByteCount += piece.count
                context.report(.sent(sentByteCount))
            }
            let head = try await connection.readHead()
            return PipelineResponse(request: request, head: head, body: .stream(connection.pieces))
        }
    }
    // end
}

@Suite("The samples of the guide WriteATransport", .watched)
struct WriteATransportSamplesTests {
    private typealias DemoTransport = WriteATransportSamples.DemoTransport
    private typealias FlightModeTransport = WriteATransportSamples.FlightModeTransport

    private let book = URLTarget("https://library.example/v1/books/3")

    @Test("The demo responds to a path that it has, without a body for HEAD, and with 404 to any other path")
    func demo() async throws {
        #expect(try await WriteATransportSamples.title() == "Solaris")
        let transport = DemoTransport(bodies: ["/v1/books/3": "{}"])
        let provider = Provider<URLTarget>(transport: transport)
        #expect(try await provider.request(book).mapString() == "{}")
        let head = try await provider.request(URLTarget(book.url, method: .head))
        #expect((head.statusCode, head.data) == (200, Data()))
        #expect(try await provider.request(URLTarget("https://library.example/v2")).statusCode == 404)
    }

    @Test("A cancelled call of the demo ends at once, and its latency passes on the provider's clock")
    func cancellation() async throws {
        let clock = ManualClock()
        let transport = DemoTransport(bodies: ["/v1/books/3": "{}"], latency: .seconds(2))
        let provider = Provider<URLTarget>(transport: transport, configuration: .init(clock: clock))
        let cancelled = Task { try await provider.request(book).statusCode }
        try await clock.waitForSleepers()
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let call = Task { try await provider.request(book).statusCode }
        #expect(try await clock.advanceToNextSleeper() == .seconds(2))
        #expect(try await call.value == 200)
    }

    @Test("In flight mode, a call fails with the code offline and nothing is sent")
    func flightMode() async throws {
        let network = ScriptedTransport(always: .status(200), decodesContent: true)
        let isOn = Switch()
        let transport = FlightModeTransport(wrapped: network, isOn: { isOn.value.load(ordering: .relaxed) })
        #expect(transport.decodesContent)
        let provider = Provider<URLTarget>(transport: transport)
        let error = await pipelineError { _ = try await provider.request(book) }
        #expect(error?.code == .offline)
        #expect(network.sent.isEmpty)
        isOn.value.store(false, ordering: .relaxed)
        #expect(try await provider.request(book).statusCode == 200)
        #expect(network.sent.count == 1)
    }

    // sample: conformance
    @Test("Outside flight mode, the transport passes the conformance suite")
    func conformance() async {
        let violations = await TransportConformance {
            FlightModeTransport(wrapped: URLSessionTransport(), isOn: { false })
        }.run()
        #expect(violations == [])
    }
    // end

    @Test("The wait for a connection, the bytes sent and a streamed response are reported")
    func pool() async throws {
        let clock = ManualClock()
        let pool = Pool(clock: clock)
        let transport = WriteATransportSamples.PoolTransport(pool: pool)
        let provider = Provider<URLTarget>(transport: transport, configuration: .init(clock: clock))
        let upload = URLTarget(book.url, method: .put, task: .requestData(Data("hello".utf8)))
        let call = Task {
            var last: ProgressResponse?
            for try await step in provider.requestWithProgress(upload) { last = step }
            return last
        }
        #expect(try await clock.advanceToNextSleeper() == .seconds(3))
        let last = try #require(try await call.value)
        #expect(last.sent.byteCount == 5)
        #expect(last.response?.data == Data("onetwo".utf8))
        #expect(last.response?.exchanges.map(\.connectionWait) == [.seconds(3)])
        #expect(pool.written.withLock { $0 } == ["PUT", "hello"])
    }
}

private final class Switch: Sendable {
    let value = Atomic(true)
}

/// A pool whose only connection is free after three seconds.
private final class Pool: WriteATransportSamples.ConnectionPool, WriteATransportSamples.Connection {
    let clock: ManualClock
    let written = Mutex<[String]>([])

    init(clock: ManualClock) {
        self.clock = clock
    }

    func connection(to request: PipelineRequest) async throws -> any WriteATransportSamples.Connection {
        try await clock.sleep(for: .seconds(3))
        return self
    }

    var pieces: AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { continuation in
            for piece in ["one", "two"] { continuation.yield(Data(piece.utf8)) }
            continuation.finish()
        }
    }

    func write(_ head: HTTPRequest) async throws {
        written.withLock { $0.append(head.method.rawValue) }
    }

    func write(_ piece: Data) async throws {
        written.withLock { $0.append(String(decoding: piece, as: UTF8.self)) }
    }

    func readHead() async throws -> HTTPResponse { HTTPResponse(status: .ok) }
}
