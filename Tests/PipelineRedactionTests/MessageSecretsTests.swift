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
        "The value of a secret field is hidden wherever it occurs, but not the name of its scheme",
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
            ("X-Session-Token", "canary-123", "canary-123", "…"),
            ("X-Trace", "canary-123", "canary-123", "canary-123"),
            ("Idempotency-Key", "canary-123", "canary-123", "canary-123"),
            ("Authorization", "Bearer short12", "short12", "short12"),
            ("Cookie", "theme=dark; lonely-cookie", "dark lonely-cookie", "dark lonely-cookie"),
        ]
    )
    func fields(name: String, value: String, text: String, shown: String) throws {
        let name = try #require(HTTPField.Name(name))
        let redactor = try redactor([name: value], secret: name.rawName == "X-Api-Key" ? [name] : [])
        #expect(redactor.text(text) == shown)
    }

    @Test("The cookies of a response are hidden, too, but not their attributes")
    func answer() throws {
        let redactor = try redactor(
            [:],
            answer: [.setCookie: "id=canary-123; Path=/somewhere/else", .server: "nothing-secret"]
        )
        #expect(redactor.text("canary-123 /somewhere/else nothing-secret") == "… /somewhere/else nothing-secret")
    }

    @Test("Each of several cookies in one field of a response is hidden")
    func joinedCookies() throws {
        let redactor = try redactor([:], answer: [.setCookie: "a=canary-123; Path=/, b=canary-456,c=canary-789"])
        #expect(redactor.text("canary-123 canary-456 canary-789") == "… … …")
    }

    @Test(
        "The values of secret query items are hidden wherever they occur, except short ones, words, dates and hosts",
        arguments: [
            ("token=canary-123", "x canary-123", "x …"), ("a=1&api%5Fkey=can%61ry+123#x", "canary 123", "…"),
            ("code=canary-123", "canary-123", "…"), ("page=canary-123", "canary-123", "canary-123"),
            ("key=username", "username", "username"), ("key=api.example.com", "api.example.com", "api.example.com"),
            ("key=2026-11-22", "2026-11-22", "2026-11-22"), ("token=short-1", "short-1", "short-1"),
            ("key=Sun,+06+Nov+1994+08:49:37+GMT", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994"),
        ]
    )
    func query(query: String, text: String, shown: String) throws {
        let request = try PipelineRequest(url: "https://a.test/?" + query)
        #expect(Redactor.standard.adding(secretsOf: request).text(text) == shown)
    }

    @Test("A value that a redactor shows by its name is not hidden elsewhere")
    func shownByName() throws {
        let name = try #require(HTTPField.Name("X-Token-Hint"))
        let request = try PipelineRequest(url: "https://a.test/?token=canary-123", headers: [name: "canary-456"])
        let redactor = Redactor(
            shownHeaderFields: [name],
            shownQueryNames: ["token"]
        ).adding(secretsOf: request)
        #expect(redactor.text("canary-123 canary-456") == "canary-123 canary-456")
        #expect(Redactor.standard.adding(secretsOf: request).text("canary-123 canary-456") == "… …")
    }

    @Test("A query item that the request marks as secret is hidden, even if its name is shown")
    func markedQuery() throws {
        var request = try PipelineRequest(url: "https://a.test/?page=1&check%2Bed=canary+123")
        let shown = Redactor(shownQueryNames: ["page", "check+ed"])
        for redactor in [shown, .development] {
            request.secretQueryNames = []
            #expect(redactor.url(of: request) == "https://a.test/?page=1&check%2Bed=canary+123")
            request.secretQueryNames = ["check+ed"]
            #expect(redactor.url(of: request) == "https://a.test/?page=1&check%2Bed=…")
            #expect(redactor.adding(secretsOf: request).text("x canary 123 1") == "x … 1")
        }
        #expect(Redactor.revealingSecrets.url(of: request).hasSuffix("canary+123"))
    }

    @Test("The secrets of several requests are hidden together with the declared ones")
    func several() throws {
        let requests = try ["canary-123", "canary-456"].map {
            try PipelineRequest(url: "https://a.test/", headers: [.authorization: "Bearer " + $0])
        }
        let redactor = Redactor(secretValues: ["canary-789"]).adding(secretsOf: requests)
        #expect(redactor.text("canary-123 canary-456 canary-789") == "… … …")
    }

    @Test("A redactor that reveals secrets still reveals these")
    func revealing() throws {
        let request = try PipelineRequest(url: "https://a.test/", headers: [.authorization: "Bearer canary-123"])
        #expect(Redactor.revealingSecrets.adding(secretsOf: request).text("canary-123") == "canary-123")
    }
}
