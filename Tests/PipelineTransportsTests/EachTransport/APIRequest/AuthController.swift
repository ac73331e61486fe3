import Foundation
import Pipeline
import PipelineAPI

/// The login and signup endpoints of the examples' API.
enum AuthController: EndpointController {
    static let endpoint = ""

    static func login(email: String, password: String) -> APIRequest<LoginResponse> {
        request("login").method(.post).basicAuth(username: email, password: password)
            .addCustomError(.notFound, "User not found")
    }

    static func signup(_ user: SignupRequest) -> APIRequest<LoginResponse> {
        request("signup", payload: user).method(.post).desiredStatusCode(.created)
    }
}

struct LoginResponse: Decodable, Equatable {
    let token: String
    let expires: Date?
}

struct SignupRequest: JSONPayload {
    var email = "ann@example.com"
    var name = "Änn \"A\" O'Neill"
    var age: Int? = 44
    var invitedBy: UUID?
    var born = Date(timeIntervalSince1970: 1_000_000_000.25)
}
