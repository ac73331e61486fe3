import Pipeline
import PipelineAPI

/// The requests for accounts and access tokens.
enum AuthController: EndpointController {
    static let endpoint = "auth"
}
