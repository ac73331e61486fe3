import Foundation

struct Repository: Decodable, Sendable {
    let name: String
    let language: String?
    let stargazersCount: Int
    let pushedAt: Date?
    let description: String?
}

struct Issue: Decodable, Sendable {
    struct User: Decodable, Sendable { let login: String }
    struct Label: Decodable, Sendable { let name: String }
    /// Present if the issue is a pull request, which this list of GitHub contains too.
    struct PullRequest: Decodable, Sendable {}

    let number: Int
    let title: String
    let user: User?
    let labels: [Label]
    let pullRequest: PullRequest?
}

struct Release: Decodable, Sendable {
    struct Asset: Decodable, Sendable {
        let id: Int
        let name: String
    }

    let assets: [Asset]
}

/// The body of GitHub's error responses.
struct ErrorMessage: Decodable, Sendable {
    let message: String
}
