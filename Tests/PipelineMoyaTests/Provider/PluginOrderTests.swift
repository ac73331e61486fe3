import Foundation
import PipelineMoya
import PipelinePlugins
import PipelineTesting
import TestSupport
import Testing

@Suite("Order and queues of plugins of MoyaProvider", .tags(.concurrent), .watched) struct MoyaPluginOrderTests {
    let log = CallLog()

    private func plugins(showingPlaces: Bool = false) -> [LoggedPlugin] {
        ["A", "B"].map { name in
            let plugin = LoggedPlugin(name, log)
            plugin.showsPlace = showingPlaces
            return plugin
        }
    }

    @Test("M93, M94: a sent request runs every method in list order, and later plugins see the prepared request")
    func orderOfARequest() async {
        let transport = ScriptedTransport([.status(200)])
        let provider = MoyaProvider<PlainTarget>(transport: transport, plugins: plugins())
        _ = await provider.result(of: PlainTarget())
        let expected = [
            "A.prepare", "B.prepare", "A.willSend AB", "B.willSend AB",
            "A.didReceive 200", "B.didReceive 200", "A.process 200", "B.process 200",
        ]
        #expect(log.entries == expected)
        #expect(transport.sent.first?.header("X-Marks") == "AB")
    }

    @Test("M93: a stubbed request runs the same methods in the same order")
    func orderOfAStub() async {
        let provider = MoyaProvider<PlainTarget>(stubClosure: MoyaProvider.immediatelyStub, plugins: plugins())
        _ = await provider.result(of: PlainTarget())
        let expected = [
            "A.prepare", "B.prepare", "A.willSend AB", "B.willSend AB",
            "A.didReceive 200", "B.didReceive 200", "A.process 200", "B.process 200",
        ]
        #expect(log.entries == expected)
    }

    @Test("M96, M97: prepare and willSend run in the background, the rest on the main queue")
    func placesOfARequest() async {
        let transport = ScriptedTransport([.status(200)])
        let provider = MoyaProvider<PlainTarget>(
            transport: transport,
            plugins: Array(plugins(showingPlaces: true).prefix(1))
        )
        let place = await withCheckedContinuation { continuation in
            provider.request(PlainTarget()) { _ in continuation.resume(returning: Place.current) }
        }
        #expect(place == "main")
        #expect(
            log.entries == [
                "A.prepare on background", "A.willSend A on background", "A.didReceive 200 on main",
                "A.process 200 on main",
            ]
        )
    }

    @Test("M96: prepare and willSend of a stub run before the request returns, on the caller's queue")
    func placesOfAStub() async {
        let queue = Place.queue("caller")
        let provider = MoyaProvider<PlainTarget>(
            stubClosure: MoyaProvider.delayedStub(3_600),
            plugins: Array(plugins(showingPlaces: true).prefix(1))
        )
        await withCheckedContinuation { continuation in
            queue.async {
                provider.request(PlainTarget()) { _ in }
                self.log.add("returned")
                continuation.resume()
            }
        }
        #expect(log.entries == ["A.prepare on caller", "A.willSend A on caller", "returned"])
    }

    @Test("M158: the queue of the call comes before that of the provider", arguments: ["call", nil])
    func queues(name: String?) async {
        let provider = MoyaProvider<PlainTarget>(
            callbackQueue: Place.queue("provider"),
            transport: ScriptedTransport([.status(200)]),
            plugins: Array(plugins(showingPlaces: true).prefix(1))
        )
        let place = await withCheckedContinuation { continuation in
            provider.request(PlainTarget(), callbackQueue: name.map(Place.queue)) { _ in
                continuation.resume(returning: Place.current)
            }
        }
        #expect(place == name ?? "provider")
        #expect(log.entries.suffix(2) == ["A.didReceive 200 on \(place)", "A.process 200 on \(place)"])
    }

    @Test("M95: process replaces a success by a failure and the reverse, and the completion sees the last result")
    func replacedResults() async {
        let (first, second) = (LoggedPlugin("A", log), LoggedPlugin("B", log))
        first.replacement = .failure(.underlying(URLError(.badURL), nil))
        second.replacement = .success(Response(statusCode: -1, data: Data()))
        let provider = MoyaProvider<PlainTarget>(
            transport: ScriptedTransport([.status(200)]),
            plugins: [first, second]
        )
        let result = await provider.result(of: PlainTarget())
        #expect(result.response?.statusCode == -1)
        #expect(log.entries.suffix(3) == ["B.didReceive 200", "A.process 200", "B.process URLError -1000"])
    }

    @Test("M102: the response has the prepared request, whether it was sent or stubbed", arguments: [true, false])
    func requestOfTheResponse(isStubbed: Bool) async {
        let provider = MoyaProvider<PlainTarget>(
            stubClosure: { _ in isStubbed ? .immediate : .never },
            transport: ScriptedTransport([.status(200)]),
            plugins: plugins()
        )
        let response = await provider.result(of: PlainTarget()).response
        #expect(response?.request?.value(forHTTPHeaderField: "X-Marks") == "AB")
        #expect(response?.request?.url?.absoluteString == "https://example.com/endpoint")
    }

    @Test("M86: a failing request closure completes after process, and calls no other method")
    func failingRequestClosure() async {
        let provider = MoyaProvider<PlainTarget>(
            requestClosure: { _, done in done(.failure(.requestMapping("nowhere"))) },
            transport: ScriptedTransport([]),
            plugins: plugins()
        )
        let result = await provider.result(of: PlainTarget())
        #expect(result.text == "requestMapping")
        #expect(log.entries == ["A.process requestMapping", "B.process requestMapping"])
    }

    @Test("M154: the last progress comes after didReceive and before process")
    func lastProgress() async {
        let provider = MoyaProvider<PlainTarget>(
            transport: ScriptedTransport([.status(200)]),
            plugins: Array(plugins().prefix(1))
        )
        await withCheckedContinuation { continuation in
            provider.request(PlainTarget(), progress: { self.log.add("progress \($0.completed)") }) { _ in
                self.log.add("completion")
                continuation.resume()
            }
        }
        let expected = ["A.didReceive 200", "progress true", "A.process 200", "completion"]
        #expect(log.entries.suffix(4) == expected)
    }

    @Test("Plugins of Pipeline run inside the others: a retry prepares once and is one request to them")
    func retry() async {
        let transport = ScriptedTransport([.status(503), .status(200)])
        let retry = RetryPlugin(maximumAttempts: 2, backoff: .immediate)
        let provider = MoyaProvider<PlainTarget>(transport: transport, plugins: [retry, LoggedPlugin("A", log)])
        let result = await provider.result(of: PlainTarget())
        #expect(result.text == "200")
        #expect(transport.sent.map { $0.header("X-Marks") } == ["A", "A"])
        #expect(log.entries == ["A.prepare", "A.willSend A", "A.didReceive 200", "A.process 200"])
    }

    @Test("Wrapped plugins of Pipeline keep their order and see the prepared request")
    func wrappedPlugins() async {
        let transport = ScriptedTransport([.status(200)])
        let provider = MoyaProvider<PlainTarget>(
            transport: transport,
            plugins: [
                .native(HeadersPlugin(["X-First": "1"])), LoggedPlugin("A", log),
                HeadersPlugin(["X-Second": "2"]),
            ]
        )
        _ = await provider.result(of: PlainTarget())
        let sent = transport.sent.first
        #expect(sent?.header("X-First") == "1")
        #expect(sent?.header("X-Second") == "2")
        #expect(sent?.header("X-Marks") == "A")
    }

    @Test("The native provider uses the same transport and plugins of Pipeline")
    func nativeProvider() async throws {
        let transport = ScriptedTransport([.status(200, body: "native")])
        let provider = MoyaProvider<PlainTarget>(
            transport: transport,
            plugins: [HeadersPlugin(["X-First": "1"])]
        )
        #expect(provider.provider.plugins.count == 1)
    }
}
