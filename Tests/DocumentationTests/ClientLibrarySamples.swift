public import Pipeline
import PipelineTesting
import TestSupport
import Testing

private typealias Library = ReadmeProgram.Library
private typealias Book = ReadmeProgram.Book

// sample: client
/// A client of the API of a library.
public struct LibraryClient: Sendable {
    private let provider: Provider<Library>

    /// Makes a client; `stack` returns all plugins, and gets those of the client.
    public init(
        token: String,
        transport: (any Transport)? = nil,
        stack: (PluginStack) -> PluginStack = { own in .standard { own } }
    ) {
        let name = HeadersPlugin(["User-Agent": "library-client/1.2"])
        let plugins = stack([name, AccessTokenPlugin { _ in token }])
        provider = transport.map { Provider(transport: $0, plugins: [plugins]) } ?? Provider(plugins: [plugins])
    }

    /// Returns the title of a book, or throws a `PipelineError`.
    public func title(ofBook id: Int) async throws -> String {
        try await provider.request(.book(id: id), as: Book.self).title
    }
}
// end

@Suite("The guide ClientLibraries", .watched)
struct ClientLibrarySamples {
    private let transport = ScriptedTransport(always: .status(200, body: #"{"title": "Eden", "author": "Lem"}"#))

    private func client() -> LibraryClient {
        // sample: program
        let client = LibraryClient(token: "a1", transport: transport) { own in
            .standard(.retries(RetryPlugin(maximumAttempts: 2))) { own }
        }
        // end
        return client
    }

    @Test("A client library sends its name and the token, with the plugins of a program, and by default")
    func fields() async throws {
        for client in [client(), LibraryClient(token: "a1", transport: transport)] {
            #expect(try await client.title(ofBook: 3) == "Eden")
        }
        #expect(transport.sent.map { $0.headers[.userAgent] } == ["library-client/1.2", "library-client/1.2"])
        #expect(transport.sent.map { $0.headers[.authorization] } == ["Bearer a1", "Bearer a1"])
    }

    @Test("A program can replace the name of a client library")
    func name() async throws {
        let client = LibraryClient(token: "a1", transport: transport) { own in
            .standard {
                HeadersPlugin(["User-Agent": "shop/3.1"])
                own
            }
        }
        _ = try await client.title(ofBook: 3)
        #expect(transport.sent.map { $0.headers[.userAgent] } == ["shop/3.1"])
    }

    @Test("The stack of a client library has no findings")
    func order() {
        let own: PluginStack = [HeadersPlugin(["User-Agent": "library-client/1.2"]), AccessTokenPlugin { _ in "a1" }]
        #expect(Provider<Library>(transport: transport, plugins: [.standard { own }]).explain().findings.isEmpty)
    }
}
