import Foundation
import Pipeline

/// A request for the rate limits, which does not count against them.
struct RateLimits: GitHubTarget, DecodableTargetType {
    struct ResultType: Decodable, Sendable {
        struct Resource: Decodable, Sendable {
            let limit: Int
            let remaining: Int
            /// When the limit is restored, in seconds since 1970.
            let reset: TimeInterval
        }

        let resources: [String: Resource]
    }

    var path: String { "rate_limit" }
    var pathTemplate: String? { "/rate_limit" }
}
