import Foundation
import Pipeline

/// What the program takes from the process, and a test replaces.
struct ProgramEnvironment: Sendable {
    var printer: Printer
    /// The access token; `nil` for requests without one, of which GitHub permits fewer.
    var token: String?
    /// The folder of the cache; `nil` to keep responses in memory only.
    var cacheFolder: URL?
    var configuration = ProviderConfiguration()
    var backoff = RetryPolicy.Backoff.exponential()
    var makeTransport: @Sendable () -> any Transport

    /// The environment of a user in a shell.
    static var process: ProgramEnvironment {
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        let token = ProcessInfo.processInfo.environment["GITHUB_TOKEN"] ?? ""
        return ProgramEnvironment(
            printer: .standard,
            token: token.isEmpty ? nil : token,
            cacheFolder: caches?.appending(path: "pipeline-github"),
            makeTransport: { AsyncHTTPClientTransport(proxies: .environment) }
        )
    }
}
