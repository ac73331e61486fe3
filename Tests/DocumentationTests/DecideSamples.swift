import Foundation
import Pipeline
import PipelineAPI
import PipelineAuth
import PipelineCaching
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide Decide.
enum DecideSamples {
    // sample: models
    struct Book: Decodable { let title: String }
    struct NewLoan: JSONPayload { let book: Int }  // from PipelineAPI; the first two styles need only Encodable
    struct Loan: Decodable { let id: Int }
    // end

    static func sendURLs(_ transport: any Transport) async throws -> (Book, Loan) {
        // sample: urls
        let client = Provider<URLTarget>(transport: transport)
        let book = try await client.get("https://library.example/v1/books/3", as: Book.self)
        let loan = try await client.send(NewLoan(book: 3), to: "https://library.example/v1/loans", as: Loan.self)
        // end
        return (book, loan)
    }

    // sample: target
    enum Library: TargetType {
        case book(id: Int)
        case borrow(NewLoan)

        var baseURL: URL { Endpoint.url("https://library.example/v1") }
        var path: String {
            switch self {
            case .book(let id): "books/\(id)"
            case .borrow: "loans"
            }
        }
        var method: HTTPMethod {
            switch self {
            case .book: .get
            case .borrow: .post
            }
        }
        var task: RequestTask {
            switch self {
            case .book: .requestPlain
            case .borrow(let loan): .requestJSONEncodable(loan)
            }
        }
    }
    // end

    static func sendTargets(_ transport: any Transport) async throws -> (Book, Loan) {
        // sample: target calls
        let provider = Provider<Library>(transport: transport)
        let book = try await provider.request(.book(id: 3), as: Book.self)
        let loan = try await provider.request(.borrow(NewLoan(book: 3)), as: Loan.self)
        // end
        return (book, loan)
    }

    // sample: requests
    enum LibraryAPI {
        static func book(id: Int) -> APIRequest<Book> { APIRequest("books", "\(id)") }
        static func borrow(_ loan: NewLoan) -> APIRequest<Loan> {
            APIRequest("loans", payload: loan)
        }
    }
    // end

    static func sendRequests(_ transport: any Transport) async throws -> (Book, Loan) {
        // sample: request calls
        let server = ServerURL(base: "https://library.example", path: "v1")
        let api = APIClient(Provider(transport: transport), server: server)
        let book = try await api.send(LibraryAPI.book(id: 3))
        let loan = try await api.send(LibraryAPI.borrow(NewLoan(book: 3)))
        // end
        return (book, loan)
    }

    static func mix(_ transport: any Transport, _ server: ServerURL) async throws -> (Book, Loan, Int) {
        let provider = Provider<MultiTarget>(transport: transport, plugins: [.standard])
        let api = APIClient(provider, server: server)
        let book = try await api.send(LibraryAPI.book(id: 3))
        let loan = try await provider.request(Library.borrow(NewLoan(book: 3)), as: Loan.self)
        let health = try await provider.request(URLTarget("https://library.example/health"))
        return (book, loan, health.statusCode)
    }

    static let compressed = RequestOptions { $0.requestCompression = .always }

    /// The configurations of the table of troubles.
    static func stacks(
        token: String,
        show: @escaping @Sendable (Bool) async -> Void,
        showLogin: @escaping @Sendable () async -> Void
    ) -> [PluginStack] {
        [
            .standard {
                AccessTokenPlugin { _ in token }
                HeadersPlugin(["X-App": "shop/3.1"])
            },
            .standard(.resilient),
            .standard(.rateLimit(RateLimitPlugin(RateLimit(100, per: .seconds(1))))),
            .standard(.cache()),
            .standard(.cookies()),
            .standard(logging: .debug),
            [
                UnauthorizedPlugin { _, _ in await showLogin() },
                ActivityPlugin { isBusy in await show(isBusy) },
                .standard,
            ],
        ]
    }
}

@Suite("The guide Decide", .watched)
struct DecideGuideTests {
    private let book = ScriptedTransport.Step.status(200, body: #"{"title": "Solaris"}"#)
    private let loan = ScriptedTransport.Step.status(201, body: #"{"id": 8}"#)

    private static let styles: [@Sendable (any Transport) async throws -> (title: String, id: Int)] = [
        { transport in
            let (book, loan) = try await DecideSamples.sendURLs(transport)
            return (book.title, loan.id)
        },
        { transport in
            let (book, loan) = try await DecideSamples.sendTargets(transport)
            return (book.title, loan.id)
        },
        { transport in
            let (book, loan) = try await DecideSamples.sendRequests(transport)
            return (book.title, loan.id)
        },
    ]

    @Test("Each style sends the same requests and decodes the same values", arguments: styles.indices)
    func requests(style: Int) async throws {
        let transport = ScriptedTransport([book, loan])
        let (title, id) = try await Self.styles[style](transport)
        #expect(title == "Solaris" && id == 8)
        #expect(transport.sent.map(\.method) == [.get, .post])
        #expect(
            transport.sent.map { $0.url?.absoluteString } == [
                "https://library.example/v1/books/3", "https://library.example/v1/loans",
            ]
        )
        #expect(transport.sent.last?.body.bytes == Data(#"{"book":3}"#.utf8))
        #expect(transport.sent.last?.headers[.contentType] == "application/json")
    }

    @Test("By default, all styles accept the same statuses")
    func statuses() {
        let url = URLTarget("https://library.example").validationType
        let target = ServersSamples.Health(baseURL: Endpoint.url("https://library.example")).validationType
        let request = DecideSamples.LibraryAPI.book(id: 3).validationType
        #expect([url, target, request].allSatisfy { $0 == .automatic })
    }

    @Test("The configurations in the table of troubles are those that this file compiles")
    func troubles() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        let page = root.appending(path: "Documentation/Plugins.md")
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let rows = Markdown(try String(contentsOf: page, encoding: .utf8)).lines
            .drop { !$0.hasPrefix("| trouble |") }.dropFirst(2).prefix { $0.hasPrefix("|") }
        let codes = rows.compactMap { row in
            row.components(separatedBy: " | ").dropFirst().first?.split(separator: "`").first.map(String.init)
        }
        #expect(codes.count == 11)
        for code in codes where code != "TokenRefreshPlugin" {
            let isCompiled = source.contains(code)
            #expect(isCompiled, "not compiled: \(code)")
        }
    }

    @Test("The stacks in the table of troubles have no findings")
    func findings() {
        let stacks = DecideSamples.stacks(token: "t", show: { _ in }, showLogin: {})
        for stack in stacks {
            let provider = Provider<MultiTarget>(transport: ScriptedTransport([]), plugins: [stack])
            #expect(provider.explain().findings.isEmpty)
        }
    }

    @Test("A provider of MultiTarget sends all three styles")
    func mix() async throws {
        let transport = ScriptedTransport([book, loan, .status(204)])
        let server = ServerURL(base: "https://staging.library.example")
        let (book, loan, status) = try await DecideSamples.mix(transport, server)
        #expect(book.title == "Solaris" && loan.id == 8 && status == 204)
        #expect(
            transport.sent.map { $0.url?.absoluteString } == [
                "https://staging.library.example/books/3", "https://library.example/v1/loans",
                "https://library.example/health",
            ]
        )
    }
}
