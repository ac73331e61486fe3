import Foundation
// sample: first
import Pipeline

// end

/// The samples of README.md; the output of those that need no network is collected.
enum ReadmeProgram {
    @TaskLocal static var output: Output?

    /// Compiled only, because it needs the network.
    static func first() async throws {
        // sample: first
        nonisolated struct Release: Decodable { let name: String }  // nonisolated for new Xcode projects
        let client = Provider<URLTarget>()
        let releases = try await client.get("https://www.swift.org/api/v1/install/releases.json", as: [Release].self)
        print("Swift", releases.last?.name ?? "?", "is the latest release")
        // end
    }

    // sample: library
    nonisolated struct Book: Decodable { let title: String, author: String }
    enum Library: TargetType, AccessTokenAuthorizable {
        case book(id: Int)
        case loans
        var baseURL: URL { Endpoint.url("https://library.example/v1") }
        var path: String {
            switch self {
            case .book(let id): "books/\(id)"
            case .loans: "loans"
            }
        }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
        var authorizationType: AuthorizationType? { .bearer }
        var sampleData: Data { Data(#"{"title": "Solaris", "author": "Lem"}"#.utf8) }  // a book
    }
    // end

    static func call() async throws {
        // sample: library
        let token = AccessTokenPlugin { _ in "2YotnFZFEjr1zCsicMWpAA" }
        let provider = Provider<Library>(transport: StubTransport(), plugins: [.standard { token }])
        let book = try await provider.request(.book(id: 3), as: Book.self)
        print(book.title, "by", book.author)  // Solaris by Lem
        // end
    }

    static func explain() {
        let token = AccessTokenPlugin { _ in "2YotnFZFEjr1zCsicMWpAA" }
        // sample: wrong order
        let wrong = Provider<Library>(transport: StubTransport(), plugins: [token, RetryPlugin()])
        print(wrong.explain())
        // end
    }
}

/// In the other guides, the enum names the type of its results.
extension ReadmeProgram.Library: DecodableTargetType {
    typealias ResultType = ReadmeProgram.Book
}

/// Hides the standard library's `print` in this file, so it has the same parameters.
private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
    ReadmeProgram.output?.add(items.map { "\($0)" }.joined(separator: separator) + terminator)
}
