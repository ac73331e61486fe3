import Foundation
import HTTPTypes
import Pipeline
import Testing

@Suite("Redactor, secrets of a message")
struct MessageSecretsTests {
    private func redactor(
        _ fields: HTTPFields,
        secret: Set<HTTPField.Name> = [],
        answer: HTTPFields = [:]
    ) throws -> Redactor {
        var request = try PipelineRequest(url: "https://a.test/", headers: fields)
        request.secretFields = secret
        return Redactor.standard.adding(secretsOf: request, answer: answer)
    }

    @Test(
        "What a secret field holds is hidden wherever it stands, without the name of its scheme",
        arguments: [
            ("Authorization", "Bearer canary-123", "Bearer canary-123 canary-123", "Bearer … …"),
            ("Authorization", "canary-123", "x canary-123", "x …"),
            ("Authorization", "Basic Ym9iOmNhbmFyeS0xMjM=", "bob canary-123 Ym9iOmNhbmFyeS0xMjM=", "bob … …"),
            ("authorization", "basic  Ym9iOmNhbmFyeToxMjM=", "canary:123", "…"),
            ("Proxy-Authorization", "Bearer canary-123", "canary-123", "…"),
            (
                "Cookie", "a=canary-123; b=\"canary-456\"; c=can%2Fary-7",
                "a canary-123 canary-456 can%2Fary-7 can/ary-7", "a … … … …"
            ),
            ("X-Api-Key", "canary-123", "/canary-123/", "/…/"),
            ("Bearer-Of-Nothing", "canary-123", "canary-123", "canary-123"),
            ("Authorization", "Bearer short12", "short12", "short12"),
            ("Cookie", "theme=dark; lonely-cookie", "dark lonely-cookie", "dark lonely-cookie"),
        ]
    )
    func fields(name: String, value: String, text: String, shown: String) throws {
        let name = try #require(HTTPField.Name(name))
        let redactor = try redactor([name: value], secret: name.rawName == "X-Api-Key" ? [name] : [])
        #expect(redactor.text(text) == shown)
    }

    @Test("The cookies of an answer are hidden as well, without their attributes")
    func answer() throws {
        let redactor = try redactor(
            [:],
            answer: [.setCookie: "id=canary-123; Path=/somewhere/else", .server: "nothing-secret"]
        )
        #expect(redactor.text("canary-123 /somewhere/else nothing-secret") == "… /somewhere/else nothing-secret")
    }

    @Test("The secrets of several requests are hidden together with the declared ones")
    func several() throws {
        let requests = try ["canary-123", "canary-456"].map {
            try PipelineRequest(url: "https://a.test/", headers: [.authorization: "Bearer " + $0])
        }
        let redactor = Redactor(secretValues: ["canary-789"]).adding(secretsOf: requests)
        #expect(redactor.text("canary-123 canary-456 canary-789") == "… … …")
    }

    @Test("A redactor that reveals secrets goes on to reveal these")
    func revealing() throws {
        let request = try PipelineRequest(url: "https://a.test/", headers: [.authorization: "Bearer canary-123"])
        #expect(Redactor.revealingSecrets.adding(secretsOf: request).text("canary-123") == "canary-123")
    }
}
