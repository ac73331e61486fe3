import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import Synchronization
import TestSupport
import Testing

enum CookiesSamples {
    enum Shop: TargetType {
        case cart

        var baseURL: URL { Endpoint.url("https://shop.example") }
        var path: String { "cart" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
        var sampleData: Data { Data("empty".utf8) }
    }

    private struct UnknownTenant: Error {}

    private struct TenantTarget: TargetType {
        let tenant: String

        var baseURL: URL { Endpoint.url("https://shop.example") }
        var path: String { "cart" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
    }

    static func inMemory() -> Provider<Shop> {
        // sample: cookies
        let provider = Provider<Shop>(
            transport: StubTransport(),  // URLSessionTransport() for the network
            plugins: [.standard(.cookies())]
        )
        // end
        return provider
    }

    static func inFile(_ file: URL, log: @escaping @Sendable (String) -> Void) -> CookiePlugin {
        // sample: cookies in a file
        let store = FileCookieStore(file)
        let cookies = CookiePlugin(store: store, onWriteFailure: { error in log("cookies not written: \(error)") })
        // end
        return cookies
    }

    static func perAccount(_ store: any CookieStore) -> CookiePlugin {
        // sample: cookies for each account
        CookiePlugin(
            store: store,
            account: { target in
                guard let target = target as? TenantTarget else { throw UnknownTenant() }
                return target.tenant
            }
        )
        // end
    }

    static func edit(_ store: any CookieStore, print: (Any) -> Void) async throws {
        // sample: inspect and clear cookies
        let jar = try await store.jar(account: "")
        print(jar.cookies.map(\.name))
        try await store.update(account: "") { jar in
            jar.removeAll { $0.domain == "shop.example" }
        }
        try await store.remove(account: "")
        // end
    }

    static func curl(_ text: String, _ store: any CookieStore, _ clock: PipelineClock) async throws -> String {
        // sample: cookies of curl
        let imported = try CookieJar(netscape: text, at: clock.date)
        try await store.update(account: "") { $0.insert(imported.cookies) }
        let exported = try await store.jar(account: "").netscapeText()
        // end
        return exported
    }

    static func sharedDomains() -> CookiePlugin {
        // sample: cookies of subdomains
        CookiePlugin(rules: CookieRules(sharedDomains: ["shop.example"]))
        // end
    }
}

@Suite("The samples of the guide Cookies", .watched)
struct CookiesSamplesTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)
    private static let cookie = CookieJar.Cookie("id", "1", domain: "shop.example", created: now)

    @Test("The standard stack with cookies sends a call and has no finding")
    func inMemory() async throws {
        let provider = CookiesSamples.inMemory()
        #expect(provider.explain().findings.isEmpty)
        #expect(provider.plugins.contains { $0 is CookiePlugin })
        #expect(try await provider.request(.cart).mapString() == "empty")
    }

    @Test("Cookies in a file survive the provider")
    func inFile() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cookies-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "cookies")
        let lines = Mutex<[String]>([])
        let setting = ScriptedTransport(
            always: .status(200, headers: [.setCookie: "id=1; Max-Age=3600; Path=/"])
        )
        for transport in [setting, ScriptedTransport(always: .status(200))] {
            let plugin = CookiesSamples.inFile(file) { line in lines.withLock { $0.append(line) } }
            _ = try await Provider<CookiesSamples.Shop>(transport: transport, plugins: [plugin]).request(.cart)
            if transport !== setting { #expect(transport.sent.first?.headers[.cookie] == "id=1") }
        }
        #expect(lines.withLock { $0 } == [])
    }

    @Test("The samples with a store name, remove and export cookies")
    func stores() async throws {
        let store: any CookieStore = MemoryCookieStore()
        let perAccount = CookiesSamples.perAccount(store)
        #expect(perAccount.capabilities.contains(.identifiesCalls))
        try await store.update(account: "") { $0.insert([Self.cookie]) }
        let printed = Mutex<[String]>([])
        try await CookiesSamples.edit(store) { value in printed.withLock { $0.append("\(value)") } }
        #expect(printed.withLock { $0 } == [#"["id"]"#])
        #expect(try await store.jar(account: "").cookies.isEmpty)
        var jar = CookieJar()
        jar.insert([Self.cookie])
        let exported = try await CookiesSamples.curl(jar.netscapeText(), store, PipelineClock(ManualClock()))
        #expect(exported == jar.netscapeText())
    }

    @Test("A cookie with a Domain attribute is sent to subdomains of a domain that the rules name")
    func subdomains() async throws {
        let transport = ScriptedTransport([
            .status(
                302,
                headers: [.setCookie: "id=1; Domain=shop.example; Path=/", .location: "https://www.shop.example/"]
            ),
            .status(200),
        ])
        let provider = Provider<CookiesSamples.Shop>(transport: transport, plugins: [CookiesSamples.sharedDomains()])
        _ = try await provider.request(.cart)
        #expect(transport.sent.map { $0.headers[.cookie] } == [nil, "id=1"])
    }
}
