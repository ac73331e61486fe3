import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import TestSupport
import Testing

@Suite("Cookies as curl keeps them", .enabled(if: Curl.executable != nil, "curl is not installed"), .realTime, .watched)
struct CurlCookieTests {
    /// A response that sets cookies, and the requests after it.
    struct Row: Sendable, CustomTestStringConvertible {
        let fields: [String]
        var first = "http://www.shop.test/dir/page"
        var later: [String] = ["http://www.shop.test/dir/page", "http://www.shop.test/", "http://shop.test/dir/page"]
        /// Why this package sends other cookies than curl; `nil` if it must send the same.
        var difference: String?

        var testDescription: String { fields.joined(separator: " | ") }
    }

    private static let rows = [
        Row(fields: ["a=1"]),
        Row(fields: ["a=1; Path=/"]),
        Row(fields: ["a=1; Path=/dir"]),
        Row(fields: ["a=1; Path=/dir/"]),
        Row(fields: ["a=1; Path=/dir/page"]),
        Row(fields: ["a=1; Path=/other"]),
        Row(
            fields: ["a=1; Path=relative"],
            difference: "RFC 6265bis §5.6.4: a path without a slash counts as none; curl takes the root"
        ),
        Row(
            fields: ["a=1; Path="],
            difference: "RFC 6265bis §5.6.4: an empty path counts as none; curl takes the root"
        ),
        Row(fields: ["a=1; Path=/; Domain=shop.test"]),
        Row(fields: ["a=1; Path=/; Domain=.shop.test"]),
        Row(fields: ["a=1; Path=/; Domain=SHOP.TEST"]),
        Row(fields: ["a=1; Path=/; Domain=www.shop.test"]),
        Row(fields: ["a=1; Path=/; Domain=other.test"]),
        Row(fields: ["a=1; Path=/; Domain=sub.www.shop.test"]),
        Row(fields: ["a=1; Path=/; Domain="]),
        Row(fields: ["a=1; Path=/", "a=2; Path=/"]),
        Row(
            fields: ["a=1; Path=/", "A=2; Path=/"],
            difference: "RFC 6265bis §5.7: names are compared exactly; curl ignores case"
        ),
        Row(fields: ["a=1; Path=/", "b=2; Path=/dir"]),
        Row(
            fields: ["a=1; Path=/", "c=3; Path=/"],
            difference: "RFC 6265bis §5.8.3: of equal paths, the older cookie comes first; in curl, the newer one"
        ),
        Row(fields: ["a=1; Path=/", "a=; Max-Age=0; Path=/"]),
        Row(fields: ["a=1; Path=/", "a=2; Max-Age=-1; Path=/"]),
        Row(fields: ["a=1; Max-Age=3600; Path=/"]),
        Row(fields: ["a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT"]),
        Row(fields: ["a=1; Path=/; Expires=Fri, 01 Jan 2038 00:00:00 GMT"]),
        Row(fields: ["a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60"]),
        Row(fields: ["a=1; Path=/; Expires=tomorrow"]),
        Row(fields: ["a=1; Path=/; Secure"]),
        Row(
            fields: ["a=1; Path=/; Secure"],
            first: "http://localhost/",
            later: ["http://localhost/"]
        ),
        Row(fields: ["__Host-a=1; Path=/"]),
        Row(fields: ["__Secure-a=1; Path=/"]),
        Row(fields: ["a=\"quoted text\"; Path=/"]),
        Row(fields: ["a=b=c; Path=/"]),
        Row(fields: ["  a  =  1  ; Path=/"]),
        Row(fields: ["a=; Path=/"]),
        Row(fields: ["a=1; path=/; HttpOnly; Version=1; Unknown=x"]),
        Row(fields: ["a=\(String(repeating: "x", count: 4_000)); Path=/"]),
        Row(fields: ["a=\(String(repeating: "x", count: 4_100)); Path=/"]),
        Row(
            fields: ["a=1; Path=/; Domain=127.0.0.1"],
            first: "http://127.0.0.1/",
            later: ["http://127.0.0.1/"]
        ),
        Row(
            fields: ["word; Path=/"],
            difference: "RFC 6265bis §5.6 step 3: a cookie may have no name"
        ),
    ]

    @Test("A jar sends the same cookies as curl, except where RFC 6265bis differs", arguments: rows)
    func sent(row: Row) async throws {
        let curl = try await Curl.cookies(row)
        let own = try await Self.cookies(row)
        if let difference = row.difference {
            #expect(own != curl, "there is no difference any more: \(difference)")
        } else {
            #expect(own == curl)
        }
    }

    /// The Cookie field of each request that this package sends.
    private static func cookies(_ row: Row) async throws -> [String?] {
        let transport = ScriptedTransport { _, index in
            .status(200, headers: index == 0 ? HTTPFields(row.fields.map { .init(name: .setCookie, value: $0) }) : [:])
        }
        let rules = CookieRules(publicSuffixes: PublicSuffixList("test\ncom"))
        let provider = Provider<URLTarget>(transport: transport, plugins: [CookiePlugin(rules: rules)])
        for url in [row.first] + row.later { _ = try await provider.request(URLTarget(url)) }
        return transport.sent.dropFirst().map { $0.headers[.cookie] }
    }
}

/// The curl of this machine.
private enum Curl {
    static let executable = ["/usr/bin/curl", "/usr/local/bin/curl", "/opt/homebrew/bin/curl"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// The Cookie field of each request that curl sends to a loopback server, which it takes for all hosts of a row.
    static func cookies(_ row: CurlCookieTests.Row) async throws -> [String?] {
        let server = try LoopbackServer { request in
            let isFirst = request.values(of: "X-Later").isEmpty
            let headers = isFirst ? row.fields.map { (name: "Set-Cookie", value: $0) } : []
            return [.respond(200, headers: headers, body: "")]
        }
        defer { server.stop() }
        let port = try #require(server.url.port)
        func local(_ url: String) throws -> [String] {
            let url = try #require(URLComponents(string: url))
            let host = try #require(url.host)
            return ["--resolve", "\(host):\(port):127.0.0.1", "http://\(host):\(port)\(url.path)"]
        }
        let options = ["--silent", "--noproxy", "*", "--cookie", ""]
        // The first option makes curl ignore the settings of the user.
        var arguments = ["--disable"] + options + (try local(row.first))
        for url in row.later { arguments += ["--next"] + options + ["--header", "X-Later: 1"] + (try local(url)) }
        let process = Process()
        process.executableURL = URL(filePath: try #require(executable))
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        let (ends, ended) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in ended.finish() }
        try process.run(within: 120)
        for await _ in ends {}
        #expect(process.terminationStatus == 0)
        let later = server.requests.filter { !$0.values(of: "X-Later").isEmpty }
        #expect(later.count == row.later.count)
        return later.map { $0.values(of: "Cookie").first }
    }
}
