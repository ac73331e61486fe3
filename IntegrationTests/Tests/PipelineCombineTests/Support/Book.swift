import Foundation
import Pipeline

/// A book as the library sends it.
struct Book: Decodable, Sendable, Equatable {
    let title: String
}

/// The API of a library.
enum Library: TargetType {
    case book(id: Int)

    var baseURL: URL { URL(string: "https://library.example/v1") ?? URL(filePath: "/") }
    var path: String {
        switch self {
        case .book(let id): "books/\(id)"
        }
    }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
}
