import Foundation
import Pipeline

/// A bookshop: anyone can browse the books, but an order requires an access token.
enum Bookshop {
    case books(author: String)
    case book(id: Int)
    case bestseller
    case order(Order)
}

extension Bookshop: TargetType {
    var baseURL: URL { Endpoint.url("https://bookshop.example/v1") }

    var path: String {
        switch self {
        case .books: "books"
        case .book(let id): "books/\(id)"
        case .bestseller: "bestseller"
        case .order: "orders"
        }
    }

    var method: HTTPMethod {
        switch self {
        case .books, .book, .bestseller: .get
        case .order: .post
        }
    }

    var task: RequestTask {
        switch self {
        case .books(let author): .requestParameters(parameters: ["author": author], encoding: URLEncoding.default)
        case .book, .bestseller: .requestPlain
        case .order(let order): .requestJSONEncodable(order)
        }
    }

    var validationType: ValidationType { .successCodes }
    var options: RequestOptions { RequestOptions { $0.attemptTimeout = .seconds(2) } }

    /// The body of a stubbed response.
    var sampleData: Data {
        switch self {
        case .books: Data(#"[{"id": 7, "title": "A Sample of a Book", "author": "Nobody"}]"#.utf8)
        case .book, .bestseller: Data(#"{"id": 7, "title": "A Sample of a Book", "author": "Nobody"}"#.utf8)
        case .order: Data(#"{"receipt": {"number": 0, "copies": 1}}"#.utf8)
        }
    }
}

extension Bookshop: AccessTokenAuthorizable {
    var authorizationType: AuthorizationType? {
        switch self {
        case .order: .bearer
        case .books, .book, .bestseller: nil
        }
    }
}

struct Book: Codable, Sendable {
    let id: Int
    let title: String
    let author: String
}

struct Order: Codable, Sendable {
    let book: Int
    let copies: Int
}

struct Receipt: Codable, Sendable {
    let number: Int
    let copies: Int
}
