// sample: program
import Foundation
import Pipeline

// end

/// The program in README.md; its output is collected.
enum ReadmeProgram {
    @TaskLocal static var output: Output?

    // sample: program
    enum Library: DecodableTargetType, AccessTokenAuthorizable {
        typealias ResultType = Book
        case book(id: Int)

        var baseURL: URL { Endpoint.url("https://library.example/v1") }
        var path: String {
            switch self {
            case .book(let id): "books/\(id)"
            }
        }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
        var authorizationType: AuthorizationType? { .bearer }
        var sampleData: Data { Data(#"{"title": "Solaris", "author": "Lem"}"#.utf8) }
    }

    struct Book: Decodable { let title: String, author: String }
    // end

    static func run() async throws {
        // sample: program
        let provider = Provider<Library>(
            transport: StubTransport(),  // URLSessionTransport() for the network
            plugins: [
                LoggingPlugin(level: .error),
                AccessTokenPlugin { _ in "2YotnFZFEjr1zCsicMWpAA" },
                .prepare(name: "language") { request, _ in request.headers[.acceptLanguage] = "en" },
                .willSend(name: "show") { request, _ in print(request.curlCommand()) },
            ]
        )

        print(provider.explain())
        let book = try await provider.requestDecoded(.book(id: 3))
        print(book.title, "by", book.author)
        // end
    }
}

/// Hides the standard library's `print` in this file, so it has the same parameters.
private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
    ReadmeProgram.output?.add(items.map { "\($0)" }.joined(separator: separator) + terminator)
}
