import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("Redactor, secret names", .watched)
struct SecretNamesTests {
    private let redactor = Redactor.standard

    private func json(_ text: String) -> String {
        redactor.bodyText(Data(text.utf8), contentType: "application/json", limit: 1_000)
    }

    @Test(
        "A name is secret if it contains a long secret word or if one of its parts is a short one",
        arguments: [
            ("password", true), ("PASSWORD", true), ("newPassword", true), ("password_confirmation", true),
            ("passwd", true), ("client-secret", true), ("clientSecret", true), ("refreshToken", true),
            ("id_token", true),
            ("api_key", true), ("apiKey", true), ("X-Api-Key", true), ("APIKEY", true), ("authorization", true),
            ("sessionId", true), ("pin", true), ("cardPin", true), ("card_cvv", true), ("user[pin]", true),
            ("OTP", true),
            ("Set-Cookie", true), ("privateKey", true),
            ("shipping", false), ("name", false), ("key", false), ("code", false), ("author", false),
            ("cardinal", false),
            ("passenger", false), ("spin", false), ("company", false), ("", false),
        ]
    )
    func secretNames(name: String, isSecret: Bool) {
        let shown = json("{\"\(name)\":\"canary\"}")
        #expect(shown.contains("canary") == !isSecret)
    }

    @Test("Secret names can be added")
    func moreSecretNames() {
        let redactor = Redactor(secretNames: Redactor.standardSecretNames.union(["Favourite-Colour"]))
        let body = Data(#"{"favouriteColour":"canary"}"#.utf8)
        #expect(!redactor.bodyText(body, contentType: "application/json", limit: 100).contains("canary"))
        #expect(self.redactor.bodyText(body, contentType: "application/json", limit: 100).contains("canary"))
    }
}
