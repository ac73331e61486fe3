import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("What a cache compares", .watched)
struct CacheKeyTests {
    /// Two requests that differ in one respect.
    struct Pair: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let first: Ask
        let second: Ask

        init(_ description: String, _ first: Ask, _ second: Ask) {
            testDescription = description
            self.first = first
            self.second = second
        }
    }

    private static func query(_ content: String, _ headers: [String: String]? = nil) -> Ask {
        let task = content.isEmpty ? RequestTask.requestPlain : .requestData(Data(content.utf8))
        return Ask(method: HTTPRequest.Method(rawValue: "QUERY") ?? .get, task: task, headers: headers)
    }

    static let pairs = [
        Pair("the content of a GET", Ask(task: .requestData(Data("a".utf8))), Ask()),
        Pair("the method, without content", query(""), Ask()),
        Pair("the method, with equal content", query("a"), Ask(task: .requestData(Data("a".utf8)))),
        Pair(
            "the type of the content",
            query("a", ["Content-Type": "text/plain"]),
            query("a", ["Content-Type": "text/html"])
        ),
        Pair("the coding of the content", query("a", ["Content-Encoding": "gzip"]), query("a")),
        Pair("the query", Ask(url: "https://a.test/b?a", path: ""), Ask(url: "https://a.test/b?b", path: "")),
        Pair("the scheme", Ask(), Ask(url: "http://a.test")),
        Pair("the port", Ask(), Ask(url: "https://a.test:444")),
        Pair(
            "the name of a credential",
            Ask(headers: ["Authorization": "x"]),
            Ask(headers: ["Proxy-Authorization": "x"])
        ),
    ]

    @Test("Requests that differ in one respect do not share a response", arguments: pairs)
    func distinct(_ pair: Pair) async throws {
        let bench = CacheBench(CacheBench.control("max-age=60"))
        for round in ["miss", "hit"] {
            #expect(try await bench.get(pair.first) == "1 \(round)")
            #expect(try await bench.get(pair.second) == "2 \(round)")
        }
    }

    @Test("A request whose body is a stream is not cached", arguments: ["GET", "QUERY"])
    func streamedContent(method: String) async throws {
        let stream: any PluginType = .prepare(name: "stream") { request, _ in
            request.body = .stream(replaying: { AsyncStream([Data("a".utf8)]) })
        }
        let bench = CacheBench(CacheBench.control("max-age=60"), outside: [stream])
        let ask = Ask(method: try #require(HTTPRequest.Method(rawValue: method)))
        #expect(try await bench.get(ask) == "1 bypass")
        #expect(try await bench.get(ask) == "2 bypass")
    }

    @Test("Lists of identities that are equal when they are joined do not share a response")
    func identities() async throws {
        let identities = Mutex<[String]>([])
        let identify: any PluginType = .prepare(name: "identify") { _, context in
            for identity in identities.withLock({ $0 }) { context.addIdentity(identity) }
        }
        let bench = CacheBench(CacheBench.control("max-age=60"), outside: [identify])
        for (index, list) in [["a b", "c"], ["a", "b c"], ["a", "b", "c"], ["a b c"]].enumerated() {
            identities.withLock { $0 = list }
            #expect(try await bench.get() == "\(index + 1) miss")
        }
    }

    @Test("With shared rules, users share a response that is public, and no other response to a credential")
    func sharedRules() async throws {
        func ask(_ token: String) -> Ask { Ask(headers: ["Authorization": token]) }
        let open = CacheBench(CacheBench.control("public, max-age=60"), CachePlugin(rules: .shared))
        #expect(try await open.get(ask("a")) == "1 miss")
        #expect(try await open.get(ask("b")) == "1 hit")
        let closed = CacheBench(CacheBench.control("max-age=60"), CachePlugin(rules: .shared))
        #expect(try await closed.get(ask("a")) == "1 miss")
        #expect(try await closed.get(ask("a")) == "2 miss")
    }

    @Test("With shared rules, a credential that is set inside the cache counts", arguments: [false, true])
    func sharedRulesInside(isPublic: Bool) async throws {
        let signer: any PluginType = .exchange(name: "signer") { request, _, send in
            var request = request
            try request.setHeader("t", for: .authorization)
            return try await send(request)
        }
        let fields = CacheBench.control(isPublic ? "public, max-age=60" : "max-age=60")
        let bench = CacheBench(fields, CachePlugin(rules: .shared), inside: [signer])
        #expect(try await bench.get() == "1 miss")
        #expect(try await bench.get() == (isPublic ? "1 hit" : "2 miss"))
    }

    @Test("A response to a credential that is set inside is reused if the call has an identity")
    func identifiedInside() async throws {
        let signer = CacheAccountTests.Signer(user: CurrentUser("a"))
        let bench = CacheBench(CacheBench.control("max-age=60"), outside: [signer])
        #expect(try await bench.get() == "1 miss")
        #expect(try await bench.get() == "1 hit")
    }

    @Test("A secret field that carries a trace does not select a response", arguments: [false, true])
    func trace(isInside: Bool) async throws {
        let count = Mutex(0)
        let trace: any PluginType = .exchange(name: "trace") { request, _, send in
            var request = request
            let number = count.withLock { count in
                count += 1
                return count
            }
            try request.setHeader("span=\(number)", for: "Baggage", isSecret: true)
            return try await send(request)
        }
        let control = CacheBench.control("max-age=60")
        let bench = isInside ? CacheBench(control, inside: [trace]) : CacheBench(control, outside: [trace])
        #expect(try await bench.get() == "1 miss")
        #expect(try await bench.get() == "1 hit")
    }

    @Test("The secret of the keys is requested once a minute, so that all machines follow when a store has lost it")
    func secret() async throws {
        let log = StoreLog()
        let bench = CacheBench(CacheBench.control("max-age=600"), CachePlugin(store: WatchedStore(before: log.add)))
        for _ in 1...3 { _ = try await bench.get() }
        #expect(log.count(of: .secret) == 1)
        bench.clock.advance(by: .seconds(60))
        for _ in 1...3 { _ = try await bench.get() }
        #expect(log.count(of: .secret) == 2)
    }
}
