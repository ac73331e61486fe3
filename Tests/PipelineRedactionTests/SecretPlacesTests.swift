import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("Secret names and places", .watched)
struct SecretPlacesTests {
    private static let all: SecretPlaces = [.field, .query, .form, .member, .textMember]

    @Test(
        "F14 well-known names are secret in every place",
        arguments: [
            "subscription-key", "Ocp-Apim-Subscription-Key", "X-Functions-Key", "device_code", "user_code", "hmac",
            "X-Hmac", "SAMLResponse", "SAMLRequest", "PHPSESSID", "verification_code", "mnemonic", "psw",
            "connection_string", "ConnectionString", "oauth_verifier", "oauth_token", "password", "client_secret",
            "access_token", "X-Amz-Signature", "seedPhrase", "2fa", "X-2FA",
        ]
    )
    func everywhere(name: String) {
        #expect(Redactor.standard.names.places(of: name) == Self.all)
    }

    @Test(
        "F14 an ambiguous name is secret as a whole and where it means a credential",
        arguments: [
            ("key", [.query, .form, .field]), ("code", [.query, .form]), ("Code", [.query, .form]),
            ("appid", [.query, .form]), ("appids", []),
            ("access", [.query, .form, .textMember]), ("refresh", [.query, .form, .textMember]),
            ("seed", [.query, .form, .textMember]), ("sig", [.query, .form, .textMember, .field]),
            ("ticket", [.query, .form, .textMember, .field]), ("X-App-Key", [.field]), ("country_code", []),
            ("X-Refresh", [.field]), ("keyboard", []), ("accessLevel", []), ("refresh_rate", []), ("monkey", []),
            ("status_code", []),
        ] as [(String, SecretPlaces)]
    )
    func ambiguous(name: String, places: SecretPlaces) {
        #expect(Redactor.standard.names.places(of: name) == places)
    }

    @Test(
        "F14 kinds, counts and addresses are shown even if a word in their name is secret",
        arguments: [
            "token_type", "tokenType", "token_type_hint", "token_uri", "auth_uri", "token_endpoint",
            "authorization_endpoint", "end_session_endpoint", "token_endpoint_auth_methods_supported", "max_tokens",
            "maxTokens", "prompt_tokens", "completion_tokens", "total_tokens", "input_tokens", "output_tokens",
            "prompt_tokens_details", "totalTokenCount", "refresh_token_expires_in", "Idempotency-Key",
            "Sec-WebSocket-Key",
        ]
    )
    func shown(name: String) {
        #expect(Redactor.standard.names.places(of: name) == [])
    }

    @Test("F14 a custom list has no built-in names, and a listed name is secret even if it is shown by default")
    func ownList() {
        let own = SecretNames(["favourite", "token_type"])
        #expect(own.places(of: "code") == [] && own.places(of: "key") == [] && own.places(of: "password") == [])
        #expect(own.places(of: "token_type") == Self.all && own.places(of: "favourites") == Self.all)
        let more = SecretNames(Redactor.standardSecretNames.subtracting(["pan"]).union(["code"]))
        #expect(more.places(of: "code") == Self.all && more.places(of: "pan") == [])
        #expect(more.places(of: "key").contains(.query))
        #expect(SecretNames([]).places(of: "password") == [])
    }

    @Test("F14 JSON hides the values of ambiguous names only if they are strings, and forms always")
    func bodies() {
        let json = #"{"ticket":{"id":1},"refresh":30,"sig":"canary","code":"E1","key":"k","token_type":"Bearer"}"#
        #expect(
            Redactor.standard.bodyText(Data(json.utf8), contentType: "application/json", limit: 200)
                == json.replacingOccurrences(of: "canary", with: "…")
        )
        #expect(
            Redactor.standard.bodyText(
                Data("code=canary&key=canary&sig=canary&token_type=Bearer&max_tokens=9".utf8),
                contentType: "application/x-www-form-urlencoded",
                limit: 200
            ) == "code=…&key=…&sig=…&token_type=Bearer&max_tokens=9"
        )
    }

    @Test("F14 a cURL command shows no value of a secret name", arguments: ["sig", "device_code", "PHPSESSID"])
    func curl(name: String) throws {
        for (type, body) in [
            ("application/json", #"{"\#(name)":"canary"}"#), ("application/x-www-form-urlencoded", "\(name)=canary"),
            ("application/xml", "<a><password>canary</password></a>"), ("text/plain", "password: canary"),
        ] {
            var request = try PipelineRequest(
                .post,
                url: "https://a.test/?\(name)=canary",
                body: .bytes(Data(body.utf8))
            )
            request.headers[.contentType] = type
            request.headers[.cookie] = "\(name)=canary"
            if let field = HTTPField.Name(name) { request.headers[field] = "canary" }
            #expect(!request.curlCommand().contains("canary"))
        }
    }
}
