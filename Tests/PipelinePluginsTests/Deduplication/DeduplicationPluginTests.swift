import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("DeduplicationPlugin", .tags(.concurrent), .watched)
struct DeduplicationPluginTests {
    private typealias Bench = DeduplicationBench

    private static let requestID = HTTPField.Name.named("X-Request-ID")

    @Test("The plugin passes the conformance suite")
    func conformance() async {
        let violations = await PluginConformance { DeduplicationPlugin() }.run()
        #expect(violations == [])
    }

    // MARK: Sharing

    @Test("D01: 1,000 equal GETs make one exchange, and each has its own response to its own request")
    func thousand() async throws {
        let joined = Tally()
        let bench = Bench(outside: [.process { _, context in if context.isJoined { joined.add() } }])
        let calls = await bench.begin(1_000) { Ask(headers: ["X-Request-ID": "id \($0)", "Accept": "a"]) }
        #expect((bench.plugin.inflightCount, bench.plugin.callerCount) == (1, 1_000))
        await bench.answer()
        let responses = await calls.results.compactMap(\.response)
        #expect(responses.count == 1_000)
        #expect(Set(responses.map(\.data)) == [Data("answer 0".utf8)])
        #expect(responses.map { $0.request.headers[Self.requestID] } == (0..<1_000).map { "id \($0)" })
        #expect(responses.map(\.exchanges.count) == [1] + Array(repeating: 0, count: 999))
        #expect(joined.value == 999)
        #expect(bench.transport.sent.count == 1)
        #expect((bench.plugin.inflightCount, bench.plugin.callerCount) == (0, 0))
    }

    @Test("Nothing is kept after an exchange ends; the next call begins another")
    func next() async throws {
        let bench = Bench()
        for number in 0..<3 {
            let call = await bench.begin()
            await bench.answer()
            let response = try await call.value
            #expect(response.data == Data("answer \(number)".utf8))
            #expect(bench.plugin.inflightCount == 0)
        }
    }

    @Test("A finished exchange is removed before its callers get their response", arguments: [true, false])
    func goneBefore(isFailing: Bool) async {
        let counts = Tally()
        let plugin = DeduplicationPlugin()
        let look = PluginStack.process { _, _ in for _ in 0..<plugin.inflightCount { counts.add() } }
        let bench = Bench(plugin, outside: [look]) { _ in isFailing ? .failure(.connectionLost) : .status(200) }
        let calls = await bench.begin(20)
        await bench.answer()
        _ = await calls.results
        #expect(counts.value == 0)
    }

    @Test("D08: a change to one call's response is not visible to other calls")
    func mutation() async throws {
        let bench = Bench(
            outside: [
                .process { result, context in
                    guard case .success(var response) = result, let id = response.request.headers[Self.requestID] else {
                        return
                    }
                    response.headers[.eTag] = (response.headers[.eTag] ?? "") + id
                    response.body = .bytes(response.data + Data(id.utf8))
                    response.request.headers[.accept] = id
                    result = .success(response)
                }
            ]
        ) { _ in .status(200, headers: [.eTag: "e"], body: "b") }
        let calls = await bench.begin(50) { Ask(headers: ["X-Request-ID": "\($0)"]) }
        await bench.answer()
        let responses = await calls.results.compactMap(\.response)
        #expect(responses.map { $0.headers[.eTag] } == (0..<50).map { "e\($0)" })
        #expect(responses.map { String(decoding: $0.data, as: UTF8.self) } == (0..<50).map { "b\($0)" })
        #expect(responses.map { $0.request.headers[.accept] } == (0..<50).map { "\($0)" })
    }

    @Test("A response's request is as sent, even after a redirect, with the call's own ignored fields")
    func request() async throws {
        let bench = Bench(inside: [.prepare { request, _ in request.headers[.userAgent] = "inner" }]) {
            $0 == 0 ? .status(302, headers: [.location: "https://b.test/c"]) : .status(200)
        }
        let calls = await bench.begin(3) { Ask(headers: ["traceparent": "\($0)", "Authorization": "a"]) }
        await bench.answer()
        await bench.answer()
        let requests = await calls.results.compactMap(\.response?.request)
        #expect(requests.map(\.host) == ["b.test", "b.test", "b.test"])
        #expect(requests.map { $0.headers[.userAgent] } == ["inner", "inner", "inner"])
        #expect(requests.map { $0.headers[.authorization] } == [nil, nil, nil])
        #expect(requests.map { $0.headers[.named("traceparent")] } == ["0", "1", "2"])
        #expect(bench.transport.sent.map { $0.headers[.named("traceparent")] } == ["0", "0"])
    }

    // MARK: What is equal

    @Test(
        "D04, Moya#2164: requests that differ in anything but ignored fields never share",
        arguments: [
            Ask(headers: ["Authorization": "Bearer 2"]), Ask(headers: ["Authorization": "bearer 1"]),
            Ask(headers: ["Authorization": "Bearer 1", "Cookie": "a=1"]),
            Ask(headers: ["Authorization": "Bearer 1", "Accept": "text/plain"]),
            Ask(headers: ["Authorization": "Bearer 1", "Accept-Language": "de"]),
            Ask(headers: ["Authorization": "Bearer 1", "Range": "bytes=0-1"]),
            Ask(headers: ["Authorization": "Bearer 1", "If-None-Match": "e"]), Ask(),
            Ask(method: .head, headers: ["Authorization": "Bearer 1"]),
            Ask(url: "http://a.test", headers: ["Authorization": "Bearer 1"]),
            Ask(url: "https://b.test", headers: ["Authorization": "Bearer 1"]),
            Ask(url: "https://a.test:8443", headers: ["Authorization": "Bearer 1"]),
            Ask(path: "/B", headers: ["Authorization": "Bearer 1"]),
            Ask(url: "https://a.test?x=1", headers: ["Authorization": "Bearer 1"]),
            Ask(task: .requestData(Data("1".utf8)), headers: ["Authorization": "Bearer 1"]),
        ]
    )
    func different(other: Ask) async {
        let bench = Bench()
        let calls = [await bench.begin(Ask(headers: ["Authorization": "Bearer 1"])), await bench.begin(other)]
        await eventually { bench.plugin.inflightCount == 2 }
        await bench.answer(2)
        #expect(await calls.results.map(\.text) == ["answer 0", "answer 1"])
    }

    @Test("The order of query items matters; the order of fields and the case of their names do not")
    func order() async {
        let bench = Bench()
        let calls = [
            await bench.begin(Ask(url: "https://a.test?x=1&y=2", headers: ["A": "1", "B": "2"])),
            await bench.begin(Ask(url: "https://a.test?x=1&y=2", headers: ["b": "2", "a": "1"])),
            await bench.begin(Ask(url: "https://a.test?y=2&x=1", headers: ["A": "1", "B": "2"])),
        ]
        await bench.answer(2)
        #expect(await calls.results.map(\.text) == ["answer 0", "answer 0", "answer 1"])
    }

    @Test("D04: calls of two providers never share, even with one plugin")
    func providers() async {
        let one = Bench()
        let other = Bench(one.plugin)
        let calls = [await one.begin(), await other.begin()]
        await one.answer()
        await other.answer()
        #expect(await calls.results.map(\.text) == ["answer 0", "answer 0"])
        #expect((one.transport.sent.count, other.transport.sent.count) == (1, 1))
    }

    @Test("Calls share only with the same secret fields and the same attempt timeout")
    func circumstances() async {
        let bench = Bench(
            outside: [.prepare { request, context in if context.callID == 2 { request.secretFields = [.accept] } }]
        )
        let timed = RequestOptions { $0.attemptTimeout = .seconds(60) }
        var calls = [
            await bench.begin(Ask(headers: ["Accept": "a"])), await bench.begin(Ask(headers: ["Accept": "a"])),
        ]
        for _ in 0..<2 { calls.append(await bench.begin(Ask(headers: ["Accept": "a"]), timed)) }
        await eventually { bench.clock.sleeperCount == 4 }
        bench.clock.advance(by: .seconds(1))
        #expect(await calls.results.map(\.text) == ["answer 0", "answer 1", "answer 2", "answer 2"])
    }

    @Test("Calls with different idle timeouts, set by the call or a plugin, do not share")
    func idleTimeout() async {
        let bench = Bench(
            outside: [.prepare { request, context in if context.callID > 2 { request.idleTimeout = .seconds(5) } }]
        )
        let short = RequestOptions { $0.idleTimeout = .seconds(1) }
        let calls = [
            await bench.begin(), await bench.begin(Ask(), short), await bench.begin(), await bench.begin(Ask(), short),
        ]
        await bench.answer(3)
        #expect(await calls.results.map(\.text) == ["answer 0", "answer 1", "answer 2", "answer 1"])
    }

    @Test("An ignored field that is marked secret is compared")
    func secretIgnored() async {
        let name = HTTPField.Name.named("X-Key")
        let bench = Bench(
            DeduplicationPlugin(ignoredFields: [name]),
            outside: [.prepare { request, _ in request.secretFields = [name] }]
        )
        let calls = [await bench.begin(Ask(headers: ["X-Key": "1"])), await bench.begin(Ask(headers: ["X-Key": "2"]))]
        await bench.answer(2)
        let results = await calls.results
        #expect(results.map(\.text) == ["answer 0", "answer 1"])
        #expect(results.map { $0.response?.request.headers[name] } == ["1", "2"])
    }

    @Test("A secret dropped by a redirect does not reappear in the response's request")
    func secretDropped() async {
        let name = HTTPField.Name.named("X-Key")
        let bench = Bench(
            DeduplicationPlugin(ignoredFields: [name]),
            outside: [.prepare { request, _ in request.secretFields = [name] }]
        ) { $0 == 0 ? .status(302, headers: [.location: "https://b.test/"]) : .status(200) }
        let calls = await bench.begin(2) { _ in Ask(headers: ["X-Key": "1"]) }
        await bench.answer()
        await bench.answer()
        #expect(await calls.results.map { $0.response?.request.headers[name] } == [nil, nil])
        #expect(bench.transport.sent.map { $0.headers[name] } == ["1", nil])
    }

    // MARK: Writes

    @Test(
        "After a call that may have changed something, no call joins an earlier exchange",
        arguments: [
            ("POST", nil, 200, true), ("DELETE", nil, 500, true), ("PATCH", nil, 0, true), ("PUT", .off, 200, true),
            ("POST", .on, 200, false), ("TRACE", nil, 200, false), ("OPTIONS", .off, 200, false),
        ] as [(String, DeduplicationPlugin.Participation?, Int, Bool)]
    )
    func write(method: String, choice: DeduplicationPlugin.Participation?, status: Int, closes: Bool) async throws {
        let bench = Bench { index in
            guard index == 1 else { return .delayed(.seconds(8), .status(200, body: "answer \(index)")) }
            return status == 0 ? .failure(.connectionLost) : .status(status)
        }
        var calls = [await bench.begin()]
        let write = await bench.begin(
            Ask(method: try #require(HTTPRequest.Method(rawValue: method))),
            RequestOptions { $0.deduplication = choice }
        )
        await eventually { bench.clock.sleeperCount == 2 }
        calls.append(await bench.begin())
        bench.clock.advance(by: .seconds(1))
        _ = await write.result
        calls.append(await bench.begin())
        #expect(bench.plugin.inflightCount == (closes ? 2 : 1))
        await bench.runOut()
        let last = closes ? "answer 2" : "answer 0"
        #expect(await calls.results.map(\.text) == ["answer 0", "answer 0", last])
    }

    // MARK: Settings

    @Test("Invalid settings trap with a message that names the value")
    func preconditions() async {
        await #expect(processExitsWith: .failure) { _ = DeduplicationPlugin(maximumCallerCount: 0) }
        await #expect(processExitsWith: .failure) { _ = DeduplicationPlugin(maximumExchangeCount: -1) }
        await #expect(processExitsWith: .failure) { _ = DeduplicationPlugin(ignoredFields: [.cookie]) }
        await #expect(processExitsWith: .failure) { _ = DeduplicationPlugin(ignoredFields: [.proxyAuthorization]) }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = DeduplicationPlugin(ignoredFields: [.authorization])
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("ignoredFields has Authorization, which carries a credential"))
    }

    @Test("By default safe methods except TRACE share, and fields unique to each call are ignored")
    func defaults() {
        #expect(DeduplicationPlugin.standardMethods.map(\.rawValue).sorted() == ["GET", "HEAD", "OPTIONS", "QUERY"])
        #expect(
            DeduplicationPlugin.standardIgnoredFields.map(\.canonicalName).sorted() == [
                "traceparent", "tracestate", "x-request-id",
            ]
        )
    }
}
