import Pipeline
import PipelineAPI

/// Accounts and access tokens.
enum AuthController: EndpointController {
    static let endpoint = "auth"
}
