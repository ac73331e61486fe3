import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("HeadersPlugin", .tags(.concurrent), .realTime, .watched)
struct HeadersPluginTests {
    private struct Refused: Error {}

    private let transport = ScriptedTransport(always: .status(200))

    private func sent(_ target: Ask, _ plugins: any PluginType...) async throws -> PipelineRequest {
        _ = try await Provider<Ask>(transport: transport, plugins: plugins).request(target)
        return try #require(transport.sent.last)
    }

    private func failure(_ plugin: HeadersPlugin, _ target: Ask = Ask()) async -> PipelineError? {
        let provider = Provider<Ask>(transport: transport, plugins: [plugin])
        return await #expect(throws: PipelineError.self) { try await provider.request(target) }
    }

    private func name(_ text: String) throws -> HTTPField.Name { try #require(HTTPField.Name(text)) }

    @Test("The plugin passes the conformance suite")
    func conformance() async {
        #expect(await PluginConformance { HeadersPlugin(["X-App": "shop", "X-Api-Key": "k"]) }.run() == [])
    }

    // MARK: Effects

    @Test("C57 The fields of a dictionary are added in sorted order")
    func dictionary() async throws {
        let request = try await sent(Ask(headers: ["Accept": "a"]), HeadersPlugin(["X-B": "2", "X-A": "1"]))
        #expect(request.headers.map { "\($0.name): \($0.value)" } == ["Accept: a", "X-A: 1", "X-B: 2"])
    }

    @Test("Fields with the same name are all added, in order")
    func repeated() async throws {
        var fields: HTTPFields = [.accept: "a", .userAgent: "shop"]
        fields.append(HTTPField(name: .accept, value: "b"))
        let request = try await sent(Ask(), HeadersPlugin(fields))
        #expect(request.headers[values: .accept] == ["a", "b"])
        #expect(request.headers[values: .userAgent] == ["shop"])
    }

    private struct Listed: Encodable {
        enum CodingKeys: String, CodingKey {
            case app = "X-App"
            case language = "Accept-Language"
        }
        var app = "shop"
        var language = "en"
    }

    @Test("A closure can return the same values: a dictionary by name, or several fields with one name")
    func kinds() async throws {
        var fields: HTTPFields = [.accept: "a"]
        fields.append(HTTPField(name: .accept, value: "b, c"))
        let repeated = fields
        let listed = try await sent(Ask(), HeadersPlugin { _ in repeated })
        #expect(listed.headers[values: .accept] == ["a", "b, c"])
        for plugin in [
            HeadersPlugin([HTTPField.Name.accept: "a, b"]), HeadersPlugin { _ in [HTTPField.Name.accept: "a, b"] },
        ] {
            #expect(try await sent(Ask(), plugin).headers == [.accept: "a, b"])
        }
    }

    @Test(
        "Existing fields stay, whatever the case of their names; with overrides, they are replaced",
        arguments: [true, false]
    )
    func overrides(overrides: Bool) async throws {
        let target = Ask(headers: ["x-app": "own", "Accept": "a"])
        let outer = PluginStack.prepare { request, _ in
            request.headers.append(HTTPField(name: .acceptLanguage, value: "de"))
            request.headers.append(HTTPField(name: .acceptLanguage, value: "fr"))
        }
        let fields = ["X-App": "shop", "Accept-Language": "en"]
        for plugin in [
            HeadersPlugin(fields, overrides: overrides),
            HeadersPlugin(overrides: overrides) { _ in fields },
            HeadersPlugin(Listed(), overrides: overrides),
        ] {
            let request = try await sent(target, outer, plugin)
            #expect(request.headers[values: try name("X-App")] == [overrides ? "shop" : "own"])
            #expect(request.headers[values: .acceptLanguage] == (overrides ? ["en"] : ["de", "fr"]))
            #expect(request.headers[values: .accept] == ["a"])
        }
    }

    @Test("Of names that differ only in case, the one that sorts last is sent")
    func sameName() async throws {
        let request = try await sent(Ask(), HeadersPlugin(["X-APP": "first", "x-app": "last"]))
        #expect(request.headers[values: try name("X-App")] == ["last"])
    }

    @Test(
        "Q07 A request whose origin another plugin changed is untouched, and the closure does not run",
        arguments: [("https", "b.test"), ("https", "a.test:444"), ("http", "a.test")]
    )
    func otherOrigin(scheme: String, authority: String) async throws {
        let leading = PluginStack.prepare { request, _ in
            request.head.scheme = scheme
            request.head.authority = authority
        }
        for plugin in [
            HeadersPlugin(["X-App": "shop"], overrides: true), HeadersPlugin([.userAgent: "shop"] as HTTPFields),
            HeadersPlugin { _ in throw Refused() },
        ] {
            #expect(try await sent(Ask(), leading, plugin).headers.isEmpty)
        }
    }

    @Test("The closure receives the target and runs for each call; nothing is kept")
    func closure() async throws {
        let count = Atomic(0)
        let plugin = HeadersPlugin { target in
            ["X-Call": "\((target as? Ask)?.path ?? "") \(count.add(1, ordering: .relaxed).newValue)"]
        }
        for number in 1...3 {
            #expect(try await sent(Ask(), plugin).headers[try name("X-Call")] == "/b \(number)")
        }
    }

    @Test("A closure that returns nil for a target adds no fields to its requests")
    func noFields() async throws {
        let plugin = HeadersPlugin { ($0 as? Ask)?.headers == nil ? ["X-App": "shop"] : nil }
        #expect(try await sent(Ask(), plugin).headers[try name("X-App")] == "shop")
        #expect(try await sent(Ask(headers: ["Accept": "a"]), plugin).headers == [.accept: "a"])
    }

    // MARK: Values

    private struct Device: Encodable {
        enum CodingKeys: String, CodingKey {
            case text = "X-Text"
            case number = "X-Number"
            case ratio = "X-Ratio"
            case flag = "X-Flag"
            case id = "X-Id"
            case link = "X-Link"
            case date = "X-Date"
            case list = "X-List"
            case none = "X-None"
            case empty = "X-Empty"
            case data = "X-Data"
        }

        var text = "a b%2B+ü&=;"
        var number = -7
        var ratio = 0.5
        var flag = true
        var id = UUID(uuidString: "0E984725-C51C-4BF4-9960-E1C80E27ABA0")
        var link = URL(string: "https://a.test/?b=c&d")
        var date = Date(timeIntervalSince1970: 1_000_000_000)
        var list = ["a", "b;q=0.5"]
        var none: Int?
        var empty: [Int] = []
        var data = Data([1, 2])
    }

    @Test("C58 C65 B-M36 The members of a value become fields, named by its coding keys; nil is left out")
    func encodable() async throws {
        let request = try await sent(Ask(), HeadersPlugin(Device()))
        let fields = Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name.rawName, $0.value) })
        #expect(
            fields == [
                "X-Text": "a b%2B+ü&=;", "X-Number": "-7", "X-Ratio": "0.5", "X-Flag": "true",
                "X-Id": "0E984725-C51C-4BF4-9960-E1C80E27ABA0", "X-Link": "https://a.test/?b=c&d",
                "X-Date": "2001-09-09T01:46:40Z", "X-List": "a, b;q=0.5", "X-Data": "AQI=",
            ]
        )
    }

    @Test("C58 Dates are encoded with the plugin's strategy")
    func dates() async throws {
        let date = try name("X-Date")
        let seconds = HeadersPlugin(Device(), dates: .secondsSince1970)
        #expect(try await sent(Ask(), seconds).headers[date] == "1000000000")
        let asking = HeadersPlugin(dates: .millisecondsSince1970) { _ in Device() }
        #expect(try await sent(Ask(), asking).headers[date] == "1000000000000")
    }

    @Test("C58 The closure may declare the type of the value that it returns, as in CodyFire's guide")
    func localType() async throws {
        let plugin = HeadersPlugin { _ in
            struct Headers: Codable {
                var locale: String
                var device: String?
            }
            return Headers(locale: "en", device: nil)
        }
        let fields = try await sent(Ask(), plugin).headers
        #expect(fields.map(\.name.rawName) == ["locale"])
        #expect(fields.map(\.value) == ["en"])
    }

    @Test("C57 C58 Of a value and a dictionary, the outer plugin's field is sent; with overrides, the inner one's")
    func valueAndDictionary() async throws {
        let value = HeadersPlugin(["X-A": "value"])
        let dictionary = HeadersPlugin(["X-A": "dictionary", "X-B": "b"])
        #expect(try await sent(Ask(), value, dictionary).headers.map(\.value) == ["value", "b"])
        let inner = HeadersPlugin(["X-A": "value"], overrides: true)
        #expect(Set(try await sent(Ask(), dictionary, inner).headers.map(\.value)) == ["value", "b"])
    }

    private struct Nested: Encodable {
        var outer = ["canary": "canary"]
    }

    private struct Broken: Encodable {
        var list = [["a": "canary"]]
    }

    @Test("C58 The date strategy of a value's type overrides that of the plugin")
    func ownDates() async throws {
        struct Own: Encodable, CustomDateEncodingStrategy {
            static let dateEncodingStrategy = DateCodingStrategy.formatted("yyyy")
            enum CodingKeys: String, CodingKey { case since = "X-Since" }
            var since = Date(timeIntervalSince1970: 1_000_000_000)
        }
        for plugin in [
            HeadersPlugin(Own()), HeadersPlugin(Own(), dates: .secondsSince1970),
            HeadersPlugin { _ in Own() },
        ] {
            #expect(try await sent(Ask(), plugin).headers[try name("X-Since")] == "2001")
        }
    }

    @Test("A nested member, an element with a comma or a value without keys fails with code encoding and the key")
    func notEncodable() async {
        for (plugin, key) in [
            (HeadersPlugin(Nested()), "outer["), (HeadersPlugin(Broken()), "list["),
            (HeadersPlugin(["X-List": ["canary, b", "c"]]), "X-List"),
            (HeadersPlugin(["canary"]), ""),
            (HeadersPlugin { _ in Double.nan }, ""), (HeadersPlugin(["X-N": Double.nan]), "X-N"),
        ] {
            let error = await failure(plugin)
            #expect(error?.code == .encoding)
            #expect(error?.plugin == "HeadersPlugin")
            #expect(key.isEmpty || error?.reason.contains(key) == true)
            #expect(error.map { "\($0)".contains("canary,") || "\($0)".contains("\"canary\"") } == false)
        }
        #expect(transport.sent.isEmpty)
    }

    @Test("A single element may contain a comma, as a date does")
    func oneElement() async throws {
        let request = try await sent(Ask(), HeadersPlugin(["X-List": ["Sun, 06 Nov 1994"]]))
        #expect(request.headers[try name("X-List")] == "Sun, 06 Nov 1994")
    }

    // MARK: Position

    @Test(
        "Inside a plugin that retries, a closure runs for each attempt; outside it, once",
        arguments: [true, false]
    )
    func attempts(isInside: Bool) async throws {
        let count = Atomic(0)
        let plugin = HeadersPlugin { _ in ["X-Call": "\(count.add(1, ordering: .relaxed).newValue)"] }
        let again = PluginStack.intercept { request, _, next in
            _ = try await next(request)
            return try await next(request)
        }
        _ = isInside ? try await sent(Ask(), again, plugin) : try await sent(Ask(), plugin, again)
        #expect(transport.sent.flatMap { $0.headers.map(\.value) } == (isInside ? ["1", "2"] : ["1", "1"]))
    }

    // MARK: Errors

    @Test(
        "Q01 Q02 A name or value that a field cannot carry is refused, and the error shows the name, not the value",
        arguments: [
            ("X-A", "canary\r\nX-Evil: 1", PipelineError.Code.invalidRequest(.headerValue), "X-A"),
            ("X-A", "canary\u{0}", .invalidRequest(.headerValue), "X-A"),
            ("X-A", " canary", .invalidRequest(.headerValue), "X-A"),
            ("X A", "canary", .invalidRequest(.headerName), "X"),
            ("X-A:", "canary", .invalidRequest(.headerName), "X-A"),
            ("", "canary", .invalidRequest(.headerName), ""), ("Ü", "canary", .invalidRequest(.headerName), ""),
        ]
    )
    func badField(name: String, value: String, code: PipelineError.Code, named: String) async {
        for plugin in [
            HeadersPlugin([name: value]), HeadersPlugin { _ in [name: value] },
        ] {
            let error = await failure(plugin)
            #expect(error?.code == code)
            #expect(error?.reason.contains("\"\(named)\"") == true)
            #expect(error.map { "\($0)".contains("canary") } == false)
        }
        #expect(transport.sent.isEmpty)
    }

    @Test("An error that the closure throws becomes the underlying error of code plugin, and nothing is sent")
    func closureThrows() async {
        for plugin in [
            HeadersPlugin { _ in throw Refused() },
            HeadersPlugin { _ in
                struct Fields: Codable { var a = "b" }
                if Bool(true) { throw Refused() }
                return Fields()
            },
        ] {
            let error = await failure(plugin)
            #expect(error?.code == .plugin)
            #expect(error?.underlyingError is Refused)
        }
        #expect(transport.sent.isEmpty)
    }

    // MARK: Secrets

    @Test(
        "A field is secret if it is declared, is one of the core's three, or has a name that suggests a secret",
        arguments: [
            ("Authorization", true), ("Cookie", true), ("Proxy-Authorization", true), ("X-Api-Key", true),
            ("X-Auth-Token", true), ("apikey", true), ("X-CSRF", true), ("Ocp-Apim-Subscription-Key", true),
            ("X-SessionToken", true), ("x-declared", true), ("X-App", false), ("User-Agent", false),
            ("Idempotency-Key", false), ("X-Author", false), ("X-Shipping", false), ("X-Keyboard", false),
        ]
    )
    func secretNames(text: String, isSecret: Bool) async throws {
        let name = try name(text)
        for plugin in [
            HeadersPlugin([text: "v"], secret: ["X-DECLARED"]), HeadersPlugin([name: "v"], secret: ["X-Declared"]),
            HeadersPlugin(secret: ["X-Declared"]) { _ in [text: "v"] },
            HeadersPlugin([name: "v"] as HTTPFields, secret: ["X-Declared"]),
        ] {
            let request = try await sent(Ask(), plugin)
            #expect(request.headers[name] == "v")
            #expect(request.secretFields == (isSecret ? [name] : []))
        }
    }

    @Test("A secret field is dropped when a redirect leaves the origin; other fields are kept")
    func redirect() async throws {
        let transport = ScriptedTransport([.status(302, headers: [.location: "https://b.test/"]), .status(200)])
        let plugin = HeadersPlugin(["X-Api-Key": "k", "X-App": "shop"])
        _ = try await Provider<Ask>(transport: transport, plugins: [plugin]).request(Ask())
        #expect(transport.sent.map { $0.headers.map(\.value) } == [["k", "shop"], ["shop"]])
    }

    @Test("A secret field is sent over http only to a loopback address, or with `.allowed`")
    func cleartext() async throws {
        let fields = ["X-Api-Key": "canary", "X-App": "shop"]
        let error = await failure(HeadersPlugin(fields), Ask(url: "http://a.test"))
        #expect(error?.code == .invalidRequest(.credential))
        #expect(error?.reason.contains("X-Api-Key") == true)
        #expect(error.map { "\($0)".contains("canary") } == false)
        #expect(transport.sent.isEmpty)
        for (url, plugin) in [
            ("http://localhost", HeadersPlugin(fields)),
            ("http://a.test", HeadersPlugin(fields, cleartext: .allowed)),
            ("http://a.test", HeadersPlugin([try name("X-Api-Key"): "canary"], cleartext: .allowed)),
            ("http://a.test", HeadersPlugin(cleartext: .allowed) { _ in fields }),
            ("http://a.test", HeadersPlugin([try name("X-Api-Key"): "canary"] as HTTPFields, cleartext: .allowed)),
        ] {
            #expect(try await sent(Ask(url: url), plugin).headers[try name("X-Api-Key")] == "canary")
        }
        #expect(try await sent(Ask(url: "http://a.test"), HeadersPlugin(["X-App": "shop"])).headers.count == 1)
        let own = Ask(url: "http://a.test", headers: ["X-Api-Key": "own"])
        #expect(try await sent(own, HeadersPlugin(["X-Api-Key": "canary"])).headers.map(\.value) == ["own"])
    }

    @Test("Over a real connection the server gets the fields")
    func loopback() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        defer { server.stop() }
        let plugin = HeadersPlugin(["X-App": "shop", "User-Agent": "shop/1.0"])
        let provider = Provider<Ask>(transport: URLSessionTransport(), plugins: [plugin])
        _ = try await provider.request(Ask(url: server.url.absoluteString, headers: ["X-App": "own"]))
        let request = try #require(server.requests.first)
        #expect(request.values(of: "X-App") == ["own"])
        #expect(request.values(of: "User-Agent") == ["shop/1.0"])
    }
}
