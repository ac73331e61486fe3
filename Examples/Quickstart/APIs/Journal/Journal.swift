import HTTPTypes
import Pipeline
import PipelineAPI

/// A journal: anyone may read it, writing takes an access token.
///
/// Its requests stand in one controller for each part of the API, a file for each request.
enum Journal {
    static let auth = AuthController.self
    static let posts = PostController.self
}

extension Journal {
    /// Where it is found; the first to be used is that of the build.
    static func makeEnvironments() -> APIEnvironments {
        APIEnvironments(
            dev: ServerURL(base: "https://dev.journal.example", path: "v1"),
            testFlight: ServerURL(base: "https://stage.journal.example", path: "v1"),
            appStore: ServerURL(base: "https://journal.example", path: "v1")
        )
    }

    /// What its requests have in common.
    static func makeClient(_ provider: Provider<MultiTarget>, environments: APIEnvironments) -> APIClient {
        var client = APIClient(provider, environments: environments)
        client.options.errorTexts.set("This is no longer there", for: .notFound)
        client.options.idleTimeout = .seconds(5)
        return client
    }
}
