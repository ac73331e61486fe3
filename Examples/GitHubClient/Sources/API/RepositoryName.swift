import ArgumentParser
import Pipeline

/// The name of a repository with its owner, such as `octo-org/hello-world`.
struct RepositoryName: ExpressibleByArgument, CustomStringConvertible {
    let owner: String
    let name: String

    init?(argument: String) {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        (owner, name) = (parts[0], parts[1])
    }

    var description: String { "\(owner)/\(name)" }

    /// The path of the repository in the API.
    var path: String { "repos/\(Endpoint.pathSegment(owner))/\(Endpoint.pathSegment(name))" }
}
