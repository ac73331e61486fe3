import Foundation
import Pipeline
import PipelineAuth
import PipelineCaching
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// Situations in which a careless cache responds with wrong data, or makes calls fail.
@Suite("CachePlugin, hazards", .tags(.concurrent), .watched)
struct CacheHazardTests {
    private let fresh = CacheBench.control("max-age=600")

    @Test("A response to a credential that was added inside the cache is not stored, and explain() reports the order")
    func unkeyedCredential() async throws {
        let fields = fresh
        let transport = ScriptedTransport { request, index in
            request.headers.contains(.authorization)
                ? .status(200, headers: fields, body: "\(index)")
                : .status(401, headers: [.wwwAuthenticate: "Basic realm=\"r\""])
        }
        let credentials = CredentialsPlugin { _ in PasswordCredential(username: "u", password: "p") }
        let bench = CacheBench(transport, inside: [credentials])
        #expect(try await bench.get() == "1 miss")
        #expect(try await bench.response(Ask(), .onlyIfCached).statusCode == 504)
        #expect(bench.provider.explain().findings.map(\.id) == ["cache-outside-challenge"])
    }

    @Test("A policy that never asks the origin sends no unsafe request, and responses() sends one exactly once")
    func unsafeOnce() async throws {
        let bench = CacheBench(fresh)
        #expect(try await bench.response(Ask(method: .post), .offline).statusCode == 504)
        #expect(bench.transport.sent.isEmpty)
        var count = 0
        for try await _ in bench.provider.responses(Ask(method: .post)) { count += 1 }
        #expect(count == 1)
        #expect(bench.transport.sent.count == 1)
        let plain = Provider<Ask>(transport: bench.transport, configuration: .init(unhandledOptions: .ignore))
        for try await _ in plain.responses(Ask(method: .post)) { count += 1 }
        #expect(count == 2)
        #expect(bench.transport.sent.count == 2)
    }

    @Test("If the store fails to remove what a POST has changed, the next lookup removes it")
    func pendingRemoval() async throws {
        let fails = Mutex(false)
        let log = StoreLog()
        let store = WatchedStore { method in
            log.add(method)
            if method == .removeResource, fails.withLock({ $0 }) { throw PipelineError(.transport, "by script") }
        }
        let bench = CacheBench(fresh, CachePlugin(store: store))
        #expect(try await bench.get() == "1 miss")
        fails.withLock { $0 = true }
        _ = try await bench.get(Ask(method: .post))
        #expect(try await bench.get() == "3 bypass")
        fails.withLock { $0 = false }
        #expect(try await bench.get() == "4 miss")
        #expect(try await bench.get() == "4 hit")
        #expect(log.count(of: .removeResource) == 3)
    }

    @Test("A change counts although the store cannot return its secret at that moment")
    func changeWithoutSecret() async throws {
        let fails = Mutex(false)
        let store = WatchedStore { method in
            if method == .secret, fails.withLock({ $0 }) { throw PipelineError(.transport, "by script") }
        }
        let bench = CacheBench(CacheBench.control("max-age=600"), CachePlugin(store: store))
        #expect(try await bench.get() == "1 miss")
        bench.clock.advance(by: .seconds(61))
        fails.withLock { $0 = true }
        _ = try await bench.get(Ask(method: .post))
        fails.withLock { $0 = false }
        #expect(try await bench.get() == "3 miss")
    }

    @Test("RFC 9111 §4.1: a response that depends on a field set inside the cache is not stored")
    func dependsOnInside() async throws {
        let language = Mutex("en")
        let inside = PluginStack.exchange(name: "Language") { request, _, send in
            var request = request
            request.headers[.acceptLanguage] = language.withLock { $0 }
            return try await send(request)
        }
        let fields = CacheBench.control("max-age=600", [.vary: "Accept-Language"])
        let bench = CacheBench(fields, CachePlugin(), inside: [inside])
        #expect(try await bench.get() == "1 miss")
        language.withLock { $0 = "fr" }
        #expect(try await bench.get() == "2 miss")
    }

    @Test("A store that ignores cancellation delays a call by its limit only")
    func stubborn() async throws {
        let (gate, open) = AsyncStream<Never>.makeStream()
        let isWaiting = Mutex(false)
        let store = WatchedStore { method in
            guard method == .entries else { return }
            isWaiting.withLock { $0 = true }
            await Task { for await _ in gate {} }.value
        }
        let bench = CacheBench(fresh, CachePlugin(store: store))
        async let call = bench.get()
        await eventually { isWaiting.withLock { $0 } }
        try await bench.clock.waitForSleepers()
        bench.clock.advance(by: .seconds(1))
        #expect(try await call == "1 bypass")
        open.finish()
    }

    @Test("A response that replaces a stored one but is not stored removes it")
    func replaced() async throws {
        let bench = CacheBench(
            ScriptedTransport([
                .status(200, headers: fresh, body: "a"), .status(404, headers: [.cacheControl: "no-store"]),
                .status(200, headers: fresh, body: "c"),
            ])
        )
        #expect(try await bench.get() == "a miss")
        _ = try await bench.get(Ask(), .reload)
        #expect(try await bench.get() == "c miss")
    }

    @Test("An older response whose body takes long does not replace a newer one")
    func slowBody() async throws {
        let fields = fresh
        let (old, end) = AsyncStream<Data>.makeStream()
        let bench = CacheBench(
            ScriptedTransport { _, index in
                let body: PipelineBody = index == 0 ? .stream(old) : .bytes(Data("new".utf8))
                return .status(200, headers: fields, body: body)
            }
        )
        let first = try await bench.provider.stream(Ask())
        bench.clock.advance(by: .seconds(5))
        #expect(try await bench.get(Ask(), .reload) == "new miss")
        end.yield(Data("old".utf8))
        end.finish()
        for try await _ in first.body {}
        #expect(try await bench.get() == "new hit")
    }

    @Test("A call during the download of the same URL gets a whole response, and the later one is stored")
    func joined() async throws {
        let fields = fresh
        let (slow, end) = AsyncStream<Data>.makeStream()
        let transport = ScriptedTransport { _, index in
            .status(200, headers: fields, body: index == 0 ? .stream(slow) : .bytes(Data("second".utf8)))
        }
        let bench = CacheBench(transport)
        let first = try await bench.provider.stream(Ask())
        end.yield(Data("fir".utf8))
        bench.clock.advance(by: .seconds(1))
        #expect(try await bench.get() == "second miss")
        #expect(try await bench.get() == "second hit")
        end.yield(Data("st".utf8))
        end.finish()
        var text = ""
        for try await piece in first.body { text += String(decoding: piece, as: UTF8.self) }
        #expect(text == "first")
        #expect(try await bench.get() == "second hit")
    }

    @Test("A call is released when it has ended, also with cookies")
    func released() async throws {
        final class Value: Sendable {}
        enum Key: PipelineContext.Key { static let defaultValue: Value? = nil }
        let values = Mutex<[Weak<Value>]>([])
        let note: any PluginType = .prepare(name: "note") { _, context in
            let value = Value()
            values.withLock { $0.append(Weak(value: value)) }
            context.update(Key.self) { $0 = value }
        }
        let bench = CacheBench(fresh, outside: [note, CookiePlugin()])
        for _ in 1...2 { _ = try await bench.get() }
        #expect(values.withLock { $0.count } == 2)
        #expect(values.withLock { $0.allSatisfy { $0.value == nil } })
    }

    private struct Weak<Value: AnyObject & Sendable>: Sendable {
        weak let value: Value?
    }

    @Test("A response to a URL that a plugin inside has changed is stored only for an account", arguments: [nil, "a"])
    func changedURL(account: String?) async throws {
        let transport = ScriptedTransport { request, _ in
            .status(200, headers: CacheBench.control("max-age=60"), body: request.head.path ?? "")
        }
        let key = Mutex("anna")
        let inside: any PluginType = .exchange(name: "key") { request, _, send in
            var request = request
            request.appendQuery("key=" + key.withLock { $0 })
            return try await send(request)
        }
        let cache = account.map { name in CachePlugin(account: { _ in name }) } ?? CachePlugin()
        let bench = CacheBench(transport, cache, inside: [inside])
        #expect(try await bench.get() == "/b?key=anna miss")
        key.withLock { $0 = "ben" }
        #expect(try await bench.get() == (account == nil ? "/b?key=ben miss" : "/b?key=anna hit"))
    }

    @Test("A 304 to a credential that is not part of the key changes nothing that is stored")
    func unidentifiedConfirmation() async throws {
        let user = Mutex<String?>(nil)
        let transport = ScriptedTransport { request, _ in
            let more: HTTPFields = [.eTag: "\"v\"", .server: request.headers[.authorization] ?? "anonymous"]
            let fields = CacheBench.control("max-age=1", more)
            return request.headers.contains(.ifNoneMatch)
                ? .status(304, headers: fields) : .status(200, headers: fields, body: "a")
        }
        let login: any PluginType = .exchange(name: "login") { request, _, send in
            var request = request
            if let name = user.withLock({ $0 }) { try request.setHeader(name, for: .authorization) }
            return try await send(request)
        }
        let bench = CacheBench(transport, inside: [login])
        #expect(try await bench.get() == "a miss")
        bench.clock.advance(by: .seconds(2))
        user.withLock { $0 = "anna" }
        let response = try await bench.response()
        #expect(response.cacheStatus?.kind == .revalidated)
        #expect(response.headers[.server] == "anna")
        #expect(try await bench.response(Ask(), .offline).headers[.server] == "anonymous")
    }

    @Test("A slow response replaces the one that was stored before it, also if the date was set back")
    func slowBodyAfterSettingBack() async throws {
        let fields = fresh
        let clock = AdjustableClock()
        let (slow, end) = AsyncStream<Data>.makeStream()
        let transport = ScriptedTransport { _, index in
            .status(200, headers: fields, body: index == 1 ? .stream(slow) : .bytes(Data("\(index)".utf8)))
        }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [CachePlugin()],
            configuration: .init(clock: clock)
        )
        _ = try await provider.request(Ask())
        clock.setDate(by: -86_400)
        let response = try await provider.stream(Ask(), options: RequestOptions { $0.cachePolicy = .reload })
        clock.advance(by: .seconds(5))
        end.yield(Data("new".utf8))
        end.finish()
        for try await _ in response.body {}
        #expect(try await provider.request(Ask()).data == Data("new".utf8))
    }

    @Test("RFC 9111 §4.3.4: a 304 without validators to the caller's own condition confirms no other response")
    func foreignCondition() async throws {
        let fields = CacheBench.control("max-age=1", [.eTag: "\"1\""])
        let transport = ScriptedTransport { request, index in
            request.headers[.ifNoneMatch] == "\"2\"" ? .status(304) : .status(200, headers: fields, body: "\(index)")
        }
        let bench = CacheBench(transport)
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(10))
        #expect(try await bench.response(Ask(headers: ["If-None-Match": "\"2\""])).statusCode == 304)
        #expect(try await bench.get() == "2 miss")
    }

    @Test("Cookies that a 304 sets are kept by CookiePlugin")
    func renewedSession() async throws {
        let transport = ScriptedTransport { request, index in
            let fields = CacheBench.control("max-age=1", [.eTag: "\"v\"", .setCookie: "n=\(index)"])
            let status = request.headers.contains(.ifNoneMatch) ? 304 : 200
            return .status(status, headers: fields, body: status == 200 ? "a" : "")
        }
        let cookies = CookiePlugin()
        let bench = CacheBench(transport, CachePlugin(account: { _ in "a" }), outside: [cookies])
        _ = try await bench.get()
        bench.clock.advance(by: .seconds(2))
        #expect(try await bench.get() == "a revalidated")
        #expect(try await cookies.store.jar(account: "").cookies.map(\.value) == ["1"])
    }

    @Test("Cookies of a response that a stale one replaces are kept by CookiePlugin", arguments: [false, true])
    func unseenCookies(isInBackground: Bool) async throws {
        let control = "max-age=1, " + (isInBackground ? "stale-while-revalidate" : "stale-if-error") + "=60"
        let transport = ScriptedTransport { _, index in
            let status = isInBackground || index == 0 ? 200 : 503
            let fields = CacheBench.control(control, [.setCookie: "n=\(index)"])
            return .status(status, headers: fields, body: "a")
        }
        let cookies = CookiePlugin()
        let bench = CacheBench(transport, CachePlugin(account: { _ in "a" }), outside: [cookies])
        _ = try await bench.get()
        bench.clock.advance(by: .seconds(2))
        #expect(try await bench.get() == "a stale")
        #expect(await bench.provider.drain(within: .seconds(1)))
        #expect(try await cookies.store.jar(account: "").cookies.map(\.value) == ["1"])
    }

    @Test("After signOut, the cookies of a background request are not kept")
    func unseenCookiesAfterSignOut() async throws {
        let transport = ScriptedTransport { _, index in
            let fields = CacheBench.control("max-age=1, stale-while-revalidate=60", [.setCookie: "n=\(index)"])
            let step = ScriptedTransport.Step.status(200, headers: fields, body: "a")
            return index == 0 ? step : .delayed(.seconds(5), step)
        }
        let cookies = CookiePlugin()
        let bench = CacheBench(transport, CachePlugin(account: { _ in "a" }), outside: [cookies])
        _ = try await bench.get()
        bench.clock.advance(by: .seconds(2))
        #expect(try await bench.get() == "a stale")
        try await bench.clock.waitForSleepers()
        try await cookies.signOut()
        bench.clock.advance(by: .seconds(5))
        #expect(await bench.provider.drain(within: .seconds(1)))
        #expect(try await cookies.store.jar(account: "").cookies.isEmpty)
    }

    @Test(
        "A 503 that could be stored does not replace the response that is used in its place",
        arguments: [false, true]
    )
    func storableFailure(isDelayed: Bool) async throws {
        let fields = CacheBench.control("max-age=1, stale-if-error=600")
        let transport = ScriptedTransport { _, index in
            index == 0
                ? .status(200, headers: fields, body: "a") : .status(503, headers: CacheBench.control("max-age=60"))
        }
        let bench = CacheBench(transport, outside: isDelayed ? [StaleFallbackPlugin()] : [])
        #expect(try await bench.get() == "a miss")
        bench.clock.advance(by: .seconds(10))
        for _ in 1...2 { #expect(try await bench.get() == "a stale") }
    }

    @Test("A part does not replace a whole response, and one that is too long is refused")
    func parts() async throws {
        let fields = CacheBench.control("max-age=1", [.eTag: "\"v\""])
        let transport = ScriptedTransport { request, _ in
            guard request.headers.contains(.range) else { return .status(200, headers: fields, body: "0123456789") }
            var part = fields
            part[.contentRange] = "bytes 0-0/10"
            return .status(206, headers: part, body: "0")
        }
        let bench = CacheBench(transport)
        _ = try await bench.get()
        bench.clock.advance(by: .seconds(10))
        #expect(try await bench.response(Ask(headers: ["Range": "bytes=0-0"])).statusCode == 206)
        #expect(try await bench.response(Ask(), .offline).data.count == 10)
    }

    @Test("The rest of an interrupted response is requested even if the beginning is stale, and must have its length")
    func rest() async throws {
        let fields: HTTPFields = [.eTag: "\"v\"", .contentLength: "6"]
        let transport = ScriptedTransport { request, index in
            guard index > 0 else {
                let body = AsyncThrowingStream<Data, any Error> { stream in
                    stream.yield(Data("123".utf8))
                    stream.finish(throwing: PipelineError(.connectionLost, "by script"))
                }
                return .status(200, headers: fields, body: .stream(body, byteCount: 6))
            }
            var rest = fields
            rest[.contentRange] = "bytes 3-5/6"
            rest[.contentLength] = nil
            return .status(206, headers: rest, body: index == 1 ? "45678" : "456")
        }
        let bench = CacheBench(transport)
        await #expect(throws: PipelineError.self) { try await bench.response() }
        bench.clock.advance(by: .seconds(10))
        let error = await #expect(throws: PipelineError.self) { try await bench.response() }
        #expect(error?.code == .malformedResponse)
        #expect(transport.sent.map { $0.headers[.range] } == [nil, "bytes=3-"])
        #expect(try await bench.get() == "123456 miss")
    }
}
