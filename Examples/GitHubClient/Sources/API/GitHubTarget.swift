import Foundation
import Pipeline

/// What all requests to GitHub's REST API share.
protocol GitHubTarget: TargetType, AccessTokenAuthorizable {
    /// The media type that the response must have.
    var mediaType: String { get }
}

extension GitHubTarget {
    /// The server that `--server` replaces.
    static var server: String { "https://api.github.com" }

    var baseURL: URL { Endpoint.url(Self.server) }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
    var mediaType: String { "application/vnd.github+json" }
    var headers: [String: String]? {
        ["Accept": mediaType, "User-Agent": "pipeline-github-example", "X-GitHub-Api-Version": "2022-11-28"]
    }
    var validationType: ValidationType { .successCodes }
    var authorizationType: AuthorizationType? { .bearer }
}
