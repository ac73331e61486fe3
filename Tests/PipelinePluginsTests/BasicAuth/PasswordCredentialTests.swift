import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTransports
import TestSupport
import Testing

@Suite("PasswordCredential", .tags(.concurrent))
struct PasswordCredentialTests {
    @Test("A credential shows neither name nor password, as text or in dump")
    func credentialText() {
        let credential = PasswordCredential(username: "canary", password: "canary")
        var text = "\(credential) \(String(reflecting: credential))"
        dump(credential, to: &text)
        #expect(!text.contains("canary"))
    }
}
