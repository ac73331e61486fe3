import Pipeline
import PipelineAPI

extension AuthController {
    /// Logs in to an account and returns an access token.
    static func login(email: String, password: String) -> APIRequest<LoginResponse> {
        request("login").method(.post).basicAuth(username: email, password: password)
            .addCustomError(.unauthorized, "The email or the password is wrong")
    }
}

struct LoginResponse: Decodable, Sendable {
    let name: String
    let token: String
}
