import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("PasswordCredential", .tags(.concurrent), .watched)
struct PasswordCredentialTests {
    @Test("The description and the dump of a credential show neither the user name nor the password")
    func credentialText() {
        let credential = PasswordCredential(username: "canary", password: "canary")
        var text = "\(credential) \(String(reflecting: credential))"
        dump(credential, to: &text)
        #expect(!text.contains("canary"))
    }
}
