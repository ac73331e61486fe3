import Pipeline
import PipelineAPI

/// A journal: anyone can read it, but writing requires an access token.
///
/// Each part of the API has a controller, and each request has a file of its own.
enum Journal {
    static let auth = AuthController.self
    static let posts = PostController.self
}

extension Journal {
    /// Returns the base URLs of the API.
    ///
    /// The build determines which one is used first.
    static func makeEnvironments() -> APIEnvironments {
        APIEnvironments(
            dev: ServerURL(base: "https://dev.journal.example", path: "v1"),
            testFlight: ServerURL(base: "https://stage.journal.example", path: "v1"),
            appStore: ServerURL(base: "https://journal.example", path: "v1")
        )
    }

    /// Returns a client with the settings that all requests share.
    static func makeClient(_ provider: Provider<MultiTarget>, environments: APIEnvironments) -> APIClient {
        var client = APIClient(provider, environments: environments)
        client.options.errorTexts.set("This no longer exists", for: .notFound)
        client.options.idleTimeout = .seconds(5)
        return client
    }
}
