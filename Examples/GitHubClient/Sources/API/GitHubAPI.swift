import Foundation
import Pipeline
import PipelineCaching

/// The requests of the program, except the one with a result type of its own: ``RateLimits``.
enum GitHubAPI: GitHubTarget {
    case repositories(owner: String)
    case issues(of: RepositoryName)
    case latestRelease(of: RepositoryName)
    case asset(id: Int, of: RepositoryName, to: URL)
    case file(path: String, of: RepositoryName, to: URL)

    var path: String {
        switch self {
        case .repositories(let owner): "users/\(Endpoint.pathSegment(owner))/repos"
        case .issues(let name): "\(name.path)/issues"
        case .latestRelease(let name): "\(name.path)/releases/latest"
        case .asset(let id, let name, _): "\(name.path)/releases/assets/\(id)"
        case .file(let path, let name, _):
            "\(name.path)/contents/\(path.split(separator: "/").map { Endpoint.pathSegment(String($0)) }.joined(separator: "/"))"
        }
    }

    var pathTemplate: String? {
        switch self {
        case .repositories: "/users/{owner}/repos"
        case .issues: "/repos/{owner}/{repo}/issues"
        case .latestRelease: "/repos/{owner}/{repo}/releases/latest"
        case .asset: "/repos/{owner}/{repo}/releases/assets/{id}"
        case .file: "/repos/{owner}/{repo}/contents/{path}"
        }
    }

    var task: RequestTask {
        switch self {
        case .repositories: .requestQuery(["sort": "full_name", "per_page": "100"])
        case .issues: .requestQuery(["state": "open", "per_page": "100"])
        case .latestRelease: .requestPlain
        case .asset(_, _, let file), .file(_, _, let file): .downloadDestination(.kept(in: file))
        }
    }

    var mediaType: String {
        switch self {
        case .repositories, .issues, .latestRelease: "application/vnd.github+json"
        case .asset: "application/octet-stream"
        case .file: "application/vnd.github.raw+json"
        }
    }

    var options: RequestOptions {
        switch self {
        case .repositories, .issues, .latestRelease: RequestOptions()
        // The file is the only copy that a user needs.
        case .asset, .file: RequestOptions { $0.cachePolicy = .noStore }
        }
    }
}

extension DownloadDestination {
    /// Returns a destination that is replaced when the download is complete, and resumed after an interruption.
    fileprivate static func kept(in file: URL) -> DownloadDestination {
        .file(file, options: [.createIntermediateDirectories, .removePreviousFile])
            .resumable(at: file.appendingPathExtension("part"))
    }
}
