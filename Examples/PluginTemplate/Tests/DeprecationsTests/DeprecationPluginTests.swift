import Deprecations
import Foundation
import HTTPTypes
import PipelineCore
import PipelineTesting
import Synchronization
import Testing

private struct Library: TargetType {
    var baseURL: URL { Endpoint.url("https://library.example") }
    var path = "books"
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestParameters(parameters: ["page": 1], encoding: URLEncoding.default) }
    var options = RequestOptions()
}

@Suite("DeprecationPlugin")
struct DeprecationPluginTests {
    /// The announcements that a handler received, in order.
    private final class Received: Sendable {
        private let list = Mutex<[Deprecation]>([])

        var deprecations: [Deprecation] { list.withLock { $0 } }

        func add(_ deprecation: Deprecation) { list.withLock { $0.append(deprecation) } }
    }

    private let received = Received()

    private func provider(
        _ fields: [String: String],
        status: Int = 200,
        plugin: DeprecationPlugin? = nil
    ) throws -> Provider<Library> {
        var headers = HTTPFields()
        for (name, value) in fields { headers[try #require(HTTPField.Name(name))] = value }
        let transport = ScriptedTransport(always: .status(status, headers: headers))
        return Provider(transport: transport, plugins: [plugin ?? DeprecationPlugin(handler: received.add)])
    }

    @Test("The plugin passes the conformance suite")
    func conformance() async {
        #expect(await PluginConformance { DeprecationPlugin { _ in } }.run() == [])
    }

    @Test("Both dates of an announcement are reported, with the resource but without its query", arguments: [200, 404])
    func dates(status: Int) async throws {
        let fields = ["Deprecation": "@1688169599;a=1", "Sunset": "Sun, 30 Jun 2024 23:59:59 GMT"]
        _ = try await provider(fields, status: status).request(Library())
        let deprecation = try #require(received.deprecations.first)
        #expect(deprecation.resource == "https://library.example/books")
        #expect(deprecation.date == Date(timeIntervalSince1970: 1_688_169_599))
        #expect(deprecation.sunset == Date(timeIntervalSince1970: 1_719_791_999))
    }

    @Test("A field without a valid date is an announcement only if it is Deprecation")
    func invalidDates() async throws {
        for fields in [[:], ["Sunset": "tomorrow"], ["Deprecation": "true"], ["Deprecation": "@9223372036854775807"]] {
            _ = try await provider(fields).request(Library())
        }
        #expect(received.deprecations.map(\.date) == [nil, nil])
    }

    @Test("A valid Sunset alone is an announcement")
    func sunset() async throws {
        _ = try await provider(["Sunset": "Sun, 30 Jun 2024 23:59:59 GMT"]).request(Library())
        #expect(received.deprecations.map(\.sunset) == [Date(timeIntervalSince1970: 1_719_791_999)])
        #expect(received.deprecations.map(\.date) == [nil])
    }

    @Test("A resource is reported once, also by copies of the plugin and for 50 concurrent calls")
    func once() async throws {
        let plugin = DeprecationPlugin(handler: received.add)
        let providers = try (1...2).map { _ in try provider(["Deprecation": "@0"], plugin: plugin) }
        try await withThrowingTaskGroup { group in
            for number in 0..<50 {
                group.addTask { _ = try await providers[number % 2].request(Library()) }
            }
            try await group.waitForAll()
        }
        #expect(received.deprecations.count == 1)
    }

    @Test("After the maximum number of resources, no others are reported")
    func maximum() async throws {
        let plugin = DeprecationPlugin(maximumReportCount: 2, handler: received.add)
        let provider = try provider(["Deprecation": "@0"], plugin: plugin)
        for path in ["a", "b", "a", "c"] { _ = try await provider.request(Library(path: path)) }
        #expect(received.deprecations.map(\.resource) == ["a", "b"].map { "https://library.example/\($0)" })
    }

    @Test("A call with reportsDeprecation set to false is ignored, and does not count as a report")
    func option() async throws {
        let provider = try provider(["Deprecation": "@0"])
        _ = try await provider.request(Library(options: .init { $0.reportsDeprecation = false }))
        #expect(received.deprecations.isEmpty)
        _ = try await provider.request(Library())
        #expect(received.deprecations.count == 1)
    }

    @Test("A failed exchange is passed on and reports nothing")
    func failure() async {
        let transport = ScriptedTransport(always: .failure(.connectionLost))
        let provider = Provider<Library>(transport: transport, plugins: [DeprecationPlugin(handler: received.add)])
        let error = await #expect(throws: PipelineError.self) { try await provider.request(Library()) }
        #expect(error?.code == .connectionLost)
        #expect(received.deprecations.isEmpty)
    }

    // This is the sample of Deprecations.md.
    private func makeProvider(transport: any Transport) -> Provider<Library> {
        let provider = Provider<Library>(
            transport: transport,
            plugins: [
                DeprecationPlugin { deprecation in
                    print(deprecation.resource, "is deprecated")
                }
            ]
        )
        return provider
    }

    @Test("The plugin has a name and no findings in the sample of the documentation, which equals the code here")
    func sample() throws {
        let analysis = makeProvider(transport: ScriptedTransport([])).explain()
        #expect(analysis.findings.isEmpty)
        #expect("\(analysis)".contains("1 DeprecationPlugin "))
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let page = folder.appending(path: "../../Sources/Deprecations/Deprecations.docc/Deprecations.md")
        let blocks = try String(contentsOf: page, encoding: .utf8).split(separator: "```")
        let code = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
            .replacing("\n        ", with: "\n")
        #expect(blocks.count == 3)
        #expect(blocks.filter { $0.hasPrefix("swift\n") }.allSatisfy { code.contains($0.dropFirst(5)) })
    }
}
