import Foundation
import Pipeline

/// The servers that the gateway calls.
struct Upstreams: Sendable {
    let catalog: URL
    let prices: URL
    let reviews: URL
}

/// A resource of an upstream that has one document for each product.
protocol UpstreamTarget: DecodableTargetType {
    static var name: String { get }
    var id: Int { get }
}

extension UpstreamTarget {
    var path: String { "\(Self.name)/\(id)" }
    var pathTemplate: String? { "/\(Self.name)/{id}" }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
    var validationType: ValidationType { .successCodes }
}

struct CatalogTarget: UpstreamTarget {
    struct ResultType: Codable { let title: String }

    static let name = "catalog"
    let baseURL: URL
    let id: Int
}

struct PriceTarget: UpstreamTarget {
    struct ResultType: Codable, Hashable {
        let cents: Int
        let currency: String
    }

    static let name = "prices"
    let baseURL: URL
    let id: Int
}

struct ReviewsTarget: UpstreamTarget {
    struct Review: Codable, Hashable {
        let stars: Int
        let text: String
    }
    typealias ResultType = [Review]

    static let name = "reviews"
    let baseURL: URL
    let id: Int
}
