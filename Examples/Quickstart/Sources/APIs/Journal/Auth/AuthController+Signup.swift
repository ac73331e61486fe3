import Pipeline
import PipelineAPI

extension AuthController {
    /// Creates an account.
    static func signup(_ account: SignupRequest) -> APIRequest<IgnoredBody> {
        request("signup", payload: account).method(.post).desiredStatusCode(.created)
    }
}

struct SignupRequest: JSONPayload {
    let email: String
    let name: String
    let password: String
}
