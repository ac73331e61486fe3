import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("DeduplicationPlugin: calls with their own exchange", .tags(.concurrent), .watched)
struct DeduplicationOwnExchangeTests {
    private typealias Bench = DeduplicationBench

    @Test("D06: calls that stream, download or report progress have their own exchanges")
    func streams() async throws {
        let bench = Bench()
        let file = FileManager.default.temporaryDirectory.appending(path: "deduplication-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let provider = bench.provider
        let calls = [
            await bench.begin(),
            Task { try await provider.stream(Ask()).response },
            Task { try await provider.stream(Ask()).response },
            Task {
                let destination = DownloadDestination.file(file)
                return try await provider.request(Ask(task: .downloadDestination(destination)))
            },
            Task {
                var last: PipelineResponse?
                for try await step in provider.requestWithProgress(Ask()) { last = step.response ?? last }
                return try #require(last)
            },
        ]
        await eventually { bench.clock.sleeperCount == 5 }
        #expect((bench.plugin.inflightCount, bench.plugin.callerCount) == (1, 1))
        bench.clock.advance(by: .seconds(1))
        let results = await calls.results
        #expect(results.compactMap(\.response).count == 5)
        #expect(bench.transport.sent.count == 5)
    }

    @Test("Requests with a file or stream body have their own exchanges, even when opted in")
    func bodies() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "deduplication-\(UUID().uuidString)")
        try Data("x".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let stream = PipelineBody.stream(replaying: { AsyncStream<Data> { $0.finish() } })
        let bench = Bench()
        var calls: [Bench.Call] = []
        for task in [RequestTask.uploadFile(file), .requestStream(stream)] {
            for _ in 0..<2 {
                calls.append(await bench.begin(Ask(method: .post, task: task), .init { $0.deduplication = .on }))
            }
        }
        #expect((bench.transport.sent.count, bench.plugin.inflightCount) == (4, 0))
        await bench.answer(4)
        _ = await calls.results
    }

    @Test("D06: all callers share one response body in memory")
    func memory() async {
        let body = Data(repeating: 7, count: 1 << 20)
        let bench = Bench { _ in .status(200, body: .bytes(body)) }
        let calls = await bench.begin(100)
        await bench.answer()
        let responses = await calls.results.compactMap(\.response)
        let addresses = responses.map { $0.data.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
        #expect(responses.count == 100)
        #expect(Set(addresses).count == 1)
    }

    @Test("A streamed response from an inner plugin is buffered for all, up to the provider's limit")
    func innerStream() async {
        for count in [1_000, 1_001] {
            let clock = ManualClock()
            let plugin = DeduplicationPlugin()
            let provider = Provider<Ask>(
                transport: ScriptedTransport(always: .delayed(.seconds(1), .status(200))),
                plugins: [
                    plugin,
                    .process { result, _ in
                        guard case .success(var response) = result else { return }
                        response.body = .stream(
                            AsyncStream {
                                $0.yield(Data(repeating: 1, count: count))
                                $0.finish()
                            }
                        )
                        result = .success(response)
                    },
                ],
                configuration: .init(limits: ProviderConfiguration.Limits(bufferedBodyByteCount: 1_000), clock: clock)
            )
            let calls = (0..<3).map { _ in Task { try await provider.request(Ask()) } }
            await eventually { plugin.callerCount == 3 && clock.sleeperCount == 1 }
            clock.advance(by: .seconds(1))
            let results = await calls.results
            #expect(
                results.map { $0.response?.data.count ?? 0 } == Array(repeating: count == 1_000 ? 1_000 : 0, count: 3)
            )
            if count > 1_000 { #expect(results.map(\.text) == Array(repeating: "limit.bodyBytes", count: 3)) }
        }
    }

    @Test("A call within a shared exchange has its own exchange, so it never waits for itself")
    func nested() async throws {
        let holder = Mutex<Provider<Ask>?>(nil)
        let depth = Tally()
        let bench = Bench(
            inside: [
                .intercept { request, _, next in
                    if depth.add() == 1 { _ = try await holder.withLock { $0 }?.request(Ask()) }
                    return try await next(request)
                }
            ]
        )
        holder.withLock { $0 = bench.provider }
        let call = await bench.begin()
        await bench.answer()
        await bench.answer()
        #expect(try await call.value.data == Data("answer 1".utf8))
        #expect(bench.transport.sent.count == 2)
        holder.withLock { $0 = nil }
    }

    @Test("Two shared exchanges that each make a call equal to the other do not deadlock")
    func crossed() async {
        let holder = Mutex<Provider<Ask>?>(nil)
        let gate = Gate()
        let bench = Bench(
            inside: [
                .intercept { request, context, next in
                    if context.callID <= 2 {
                        await gate.wait()
                        _ = try await holder.withLock { $0 }?.request(Ask(path: request.path == "/1" ? "/2" : "/1"))
                    }
                    return try await next(request)
                }
            ]
        )
        holder.withLock { $0 = bench.provider }
        let calls = [
            await bench.begin(Ask(path: "/1"), sends: false), await bench.begin(Ask(path: "/2"), sends: false),
        ]
        gate.open()
        await bench.answer(2)
        await bench.answer(2)
        #expect(await calls.results.compactMap(\.response).count == 2)
        holder.withLock { $0 = nil }
    }

    // MARK: Bounds

    @Test("Callers beyond the limit of one exchange begin another")
    func callers() async {
        let bench = Bench(DeduplicationPlugin(maximumCallerCount: 3))
        var calls: [Bench.Call] = []
        for _ in 0..<7 { calls.append(await bench.begin()) }
        #expect((bench.plugin.inflightCount, bench.plugin.callerCount) == (3, 7))
        await bench.answer(3)
        let texts = await calls.results.map(\.text)
        #expect(Dictionary(grouping: texts) { $0 }.mapValues(\.count).values.sorted() == [1, 3, 3])
        #expect(bench.plugin.inflightCount == 0)
    }

    @Test("Beyond the maximum number of shared exchanges, a call has its own exchange")
    func exchanges() async {
        let bench = Bench(DeduplicationPlugin(maximumExchangeCount: 1))
        var calls: [Bench.Call] = []
        for path in ["/1", "/2", "/2", "/1"] { calls.append(await bench.begin(Ask(path: path))) }
        #expect((bench.plugin.inflightCount, bench.plugin.callerCount, bench.transport.sent.count) == (1, 2, 3))
        await bench.answer(3)
        #expect(await calls.results.map(\.text) == ["answer 0", "answer 1", "answer 2", "answer 0"])
    }

    // MARK: Secrets

    @Test("Credentials are kept only while the exchange is in flight, and no description shows them")
    func secrets() async {
        let bench = Bench { _ in .failure(.connectionLost) }
        let calls = await bench.begin(2) { _ in
            Ask(url: "https://a.test?k=canary", headers: ["Authorization": "canary"])
        }
        var text = "\(bench.plugin) \(bench.provider.explain())"
        dump(bench.plugin, to: &text)
        await bench.answer()
        for result in await calls.results {
            text += "\(result.error.map { "\($0)" } ?? "none")"
            dump(result.error, to: &text)
        }
        #expect(text.contains("connectionLost"))
        #expect(!text.contains("canary"))
        #expect(bench.plugin.inflightCount == 0)
    }
}
