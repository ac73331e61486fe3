import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// What a cache stores and serves, and what it has in common with retries, cookies and decoding, with each of the
/// stacks.
@Suite("Plugins of another package in place of ours: stored responses", .watched)
struct StrangersCacheTests {
    private typealias Bench = StrangersBench
    private typealias Call = StrangersCall

    private static let stacks = StrangersStack.allCases

    private static func fields(_ control: String, tag: String? = nil, cookie: String? = nil) -> HTTPFields {
        var fields: HTTPFields = [.cacheControl: control]
        fields[.eTag] = tag
        fields[.setCookie] = cookie
        return fields
    }

    /// Makes a call and checks its status, its body and how a cache has handled it.
    private func check(
        _ bench: Bench,
        _ shown: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let result = await bench.get().shown
        #expect(result == shown, sourceLocation: sourceLocation)
    }

    // MARK: Validators and changes

    @Test("K02 A hit has the ETag of the miss, with which a change is accepted", arguments: stacks)
    func tag(stack: StrangersStack) async throws {
        let fields = Self.fields("max-age=60", tag: "\"v\"")
        let transport = ScriptedTransport(decodesContent: true) { request, index in
            if request.method == .put { return .status(request.headers[.ifMatch] == "\"v\"" ? 204 : 412) }
            return .status(200, headers: fields, body: "\(index)")
        }
        let bench = Bench(stack, transport: transport)
        await check(bench, "200 0 miss")
        let hit = await bench.get()
        #expect(hit.shown == "200 0 hit")
        let tag = try #require(hit.response?.headers[.eTag])
        #expect(await bench.get(Ask(method: .put, headers: ["If-Match": tag])).response?.statusCode == 204)
        await check(bench, "200 2 miss")
    }

    @Test(
        "K03 After no-store in a 304 or a response to HEAD, a response is not used",
        arguments: stacks,
        [true, false]
    )
    func noStore(stack: StrangersStack, inHead: Bool) async {
        let bench = Bench(stack) { request, index in
            let isChanged = index > 0
            let fields = Self.fields(isChanged ? "max-age=60, no-store" : "max-age=60", tag: "\"v\"")
            let isConfirmed = request.headers[.ifNoneMatch] == "\"v\""
            return .status(isConfirmed ? 304 : 200, headers: fields, body: isConfirmed ? "" : "\(index)")
        }
        await check(bench, "200 0 miss")
        if inHead {
            #expect(
                await bench.get(Ask(method: .head, headers: ["Cache-Control": "no-cache"])).response?.statusCode == 200
            )
        } else {
            bench.clock.advance(by: .seconds(100))
            await check(bench, "200 0 revalidated")
        }
        await check(bench, "200 2 miss")
    }

    @Test("K05 A response to a request that began before a change is neither stored nor shared", arguments: stacks)
    func change(stack: StrangersStack) async {
        let bench = Bench(stack) { request, index in
            let body = request.method == .post ? "changed" : "\(index)"
            let seconds = index == 0 ? 4 : 1
            return .delayed(.seconds(seconds), .status(200, headers: Self.fields("max-age=60"), body: body))
        }
        let results = await bench.results([
            Call(), Call(Ask(method: .post), at: .seconds(1)), Call(at: .milliseconds(2_500)),
        ])
        #expect(results.map { $0.response?.data } == ["0", "changed", "2"].map { Data($0.utf8) })
        #expect(["200 2 hit", "200 3 miss"].contains(await bench.get().shown))
    }

    @Test(
        "K06 An error at a validation leaves the stored response",
        arguments: stacks,
        [401, 403, 407, 408, 421, 425, 428, 429, 431]
    )
    func errorAtValidation(stack: StrangersStack, status: Int) async {
        let fails = Mutex(false)
        let fields = Self.fields("max-age=60", tag: "\"v\"")
        let bench = Bench(stack) { request, _ in
            if fails.withLock({ $0 }) { return .status(status) }
            let isConfirmed = request.headers[.ifNoneMatch] == "\"v\""
            return .status(isConfirmed ? 304 : 200, headers: fields, body: isConfirmed ? "" : "a")
        }
        await check(bench, "200 a miss")
        bench.clock.advance(by: .seconds(100))
        fails.withLock { $0 = true }
        #expect(await bench.get().response?.statusCode == status)
        fails.withLock { $0 = false }
        // After refusals, the rate limit holds some calls back for a while.
        bench.clock.advance(by: .seconds(600))
        await check(bench, "200 a revalidated")
        await check(bench, "200 a hit")
    }

    @Test("K08 A refusal with a lifetime is not stored", arguments: stacks, [428, 429, 431, 511])
    func refusal(stack: StrangersStack, status: Int) async {
        let fails = Mutex(true)
        let bench = Bench(stack) { _, _ in
            .status(fails.withLock { $0 } ? status : 200, headers: Self.fields("max-age=6000"), body: "a")
        }
        #expect(await bench.get().response?.statusCode == status)
        fails.withLock { $0 = false }
        bench.clock.advance(by: .seconds(600))
        await check(bench, "200 a miss")
    }

    // MARK: With retries and shared exchanges

    @Test("K08 Calls that share get the stale response after all retries", arguments: stacks, [503, nil] as [Int?])
    func staleAfterRetries(stack: StrangersStack, status: Int?) async {
        let fails = Mutex(false)
        let fields = Self.fields("max-age=60, stale-if-error=600", tag: "\"v\"")
        let bench = Bench(stack) { request, _ in
            if fails.withLock({ $0 }) {
                return .delayed(.seconds(1), status.map { .status($0) } ?? .failure(.connectionLost))
            }
            let isConfirmed = request.headers[.ifNoneMatch] == "\"v\""
            return .status(isConfirmed ? 304 : 200, headers: fields, body: isConfirmed ? "" : "a")
        }
        await check(bench, "200 a miss")
        bench.clock.advance(by: .seconds(100))
        fails.withLock { $0 = true }
        let results = await bench.results(20)
        #expect(results.allSatisfy { $0.shown == "200 a stale" && $0.response?.isFallback == true })
        #expect(bench.transport.sent.count == 4)
        fails.withLock { $0 = false }
        await check(bench, "200 a revalidated")
    }

    @Test("A call that begins while another gets its stale response asks the server", arguments: stacks)
    func begunDuringFallback(stack: StrangersStack) async {
        let slow = PluginStack.intercept(name: "slow") { request, context, next in
            try await context.clock.sleep(for: .seconds(1))
            return try await next(request)
        }
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 0)
        let bench = Bench(stack, budget: budget, inside: [slow]) { _, index in
            let fields = Self.fields("max-age=60, stale-if-error=600")
            return index == 1 ? .status(503) : .status(200, headers: fields, body: "\(index)")
        }
        await check(bench, "200 0 miss")
        bench.clock.advance(by: .seconds(100))
        let results = await bench.results([Call(), Call(at: .milliseconds(1_500))])
        #expect(results.map(\.shown) == ["200 0 stale", "200 2 miss"])
    }

    @Test("After the limit of stale-if-error, the calls get the failure", arguments: stacks)
    func tooStale(stack: StrangersStack) async {
        let bench = Bench(stack) { _, index in
            let fields = Self.fields("max-age=60, stale-if-error=60")
            return index == 0 ? .status(200, headers: fields) : .status(503)
        }
        _ = await bench.get()
        bench.clock.advance(by: .seconds(200))
        #expect(await bench.get().response?.statusCode == 503)
        #expect(bench.transport.sent.count == 4)
    }

    @Test("Calls that share a validation get the stored response, and the cookies of the 304 count", arguments: stacks)
    func cookiesOfHiddenResponse(stack: StrangersStack) async {
        let bench = Bench(stack) { request, _ in
            guard request.headers[.ifNoneMatch] == "\"v\"" else {
                return .status(200, headers: Self.fields("max-age=60", tag: "\"v\""), body: "a")
            }
            let fields = Self.fields("max-age=60", tag: "\"v\"", cookie: "s=2; Path=/")
            return .delayed(.seconds(1), .status(304, headers: fields))
        }
        await check(bench, "200 a miss")
        bench.clock.advance(by: .seconds(100))
        #expect(await bench.results(10).allSatisfy { $0.shown == "200 a revalidated" })
        #expect(bench.transport.sent.count == 2)
        _ = await bench.get(Ask(path: "/other"))
        #expect(bench.transport.sent.last?.headers[.cookie] == "s=2")
    }

    // MARK: Damage

    @Test("K07 A response whose body cannot be decoded leaves the cache", arguments: stacks)
    func damagedBody(stack: StrangersStack) async {
        let good = GzipBytes.gzip(Data("a".utf8))
        let bench = Bench(stack) { _, index in
            var fields = Self.fields("max-age=60")
            fields[.contentEncoding] = "gzip"
            let body = index == 0 ? good.dropLast(8) + Data(count: 8) : good
            return .status(200, headers: fields, body: .bytes(Data(body)))
        }
        #expect(await bench.get().shown.hasPrefix("contentCoding"))
        await check(bench, "200 a miss")
        await check(bench, "200 a hit")
        #expect(bench.transport.sent.count == 2)
    }

    @Test("A response that the transport cannot verify is not stored", arguments: stacks)
    func unverified(stack: StrangersStack) async {
        let transport = ScriptedTransport(
            always: .answer { request, context in
                context.report(.unverifiedContent)
                return PipelineResponse(request: request, statusCode: 200, headers: Self.fields("max-age=60"))
            },
            decodesContent: true
        )
        let bench = Bench(stack, transport: transport)
        for _ in 1...2 { #expect(await bench.get().response?.cacheStatus?.kind == .miss) }
    }

    @Test("Plugins that observe a call see how the cache has handled it", arguments: stacks)
    func observedStatus(stack: StrangersStack) async {
        let seen = Mutex<[CacheStatus.Kind?]>([])
        let observing = PluginStack.didFinish { _, context in seen.withLock { $0.append(context.cacheStatus?.kind) } }
        let bench = Bench(stack, authentication: [observing]) { _, _ in
            .status(200, headers: Self.fields("max-age=60"))
        }
        #expect(await bench.get().response?.source == .network)
        #expect(await bench.get().response?.source == .cache)
        #expect(seen.withLock { $0 } == [.miss, .hit])
    }

    @Test("G03 After a sign-out, no stored response is used", arguments: stacks)
    func signOut(stack: StrangersStack) async throws {
        let bench = Bench(stack, hasCookies: false) { _, index in
            .status(200, headers: Self.fields("max-age=60"), body: "\(index)")
        }
        await check(bench, "200 0 miss")
        await check(bench, "200 0 hit")
        try await bench.provider.signOut()
        await check(bench, "200 1 miss")
    }

    // MARK: Redirects

    @Test("R02 R03 Another origin gets no secret, also if the responses are stored", arguments: stacks)
    func redirects(stack: StrangersStack) async {
        let bench = Bench(stack) { request, _ in
            let place = "\(request.host ?? "")\(request.path)"
            var fields = Self.fields("max-age=60")
            switch place {
            case "a.test/cookie": return .status(200, headers: Self.fields("no-store", cookie: "s=1; Path=/"))
            case "a.test/b": fields[.location] = "https://other.test/c"
            case "other.test/c": fields[.location] = "https://a.test/d"
            default: return .status(200, headers: fields, body: request.headers[.authorization] ?? "none")
            }
            return .status(302, headers: fields)
        }
        _ = await bench.get(Ask(path: "/cookie"))
        for account in ["a", "b", "a"] {
            let ask = Ask(headers: ["Authorization": "Bearer \(account)"])
            #expect(await bench.get(ask).shown.hasPrefix("200 none"))
        }
        for request in bench.transport.sent where request.host == "other.test" {
            #expect(request.headers[.authorization] == nil)
            #expect(request.headers[.cookie] == nil)
        }
        for request in bench.transport.sent where request.path == "/d" {
            #expect(request.headers[.authorization] == nil)
        }
        let first = bench.transport.sent.filter { $0.path == "/b" }
        #expect(first.allSatisfy { $0.headers[.cookie] == "s=1" })
        #expect(Set(first.compactMap { $0.headers[.authorization] }) == ["Bearer a", "Bearer b"])
    }
}
