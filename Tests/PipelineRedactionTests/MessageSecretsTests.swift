import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRedaction

@Suite("Redactor, secrets of a message", .watched)
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

    private static let hex = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
    private static let aws =
        "AWS4-HMAC-SHA256 Credential=AKID/20150830/us-east-1/iam/aws4_request, "
        + "SignedHeaders=content-type;host;x-amz-date;x-amz-meta-an0therheaderwithalongname, Signature=\(hex)"
    private static let jwt = "eyJhbGciOiJub25lIn0eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0NTY3ODkwIn0xMjM0.c2lnbmF0dXJl"

    @Test(
        "A part of a secret field that could be a signature is hidden alone; others are not",
        arguments: [
            (aws, "<Provided>\(hex)</Provided>", "<Provided>…</Provided>"),
            (
                aws, "AKID/20150830/us-east-1/iam/aws4_request content-type;host x-amz-meta-an0therheaderwithalongname",
                nil
            ),
            ("v1=\(hex)", hex, "…"),
            ("Bearer \(hex)", "\(hex) Bearer", "… Bearer"),
            ("\(hex) \(String(hex.reversed()))", "<\(hex)>", "<…>"),
            ("t=1492774577,v1=\(hex),v0=6ffbb59b2300aae63f27240606", "1492774577 6ffbb59b2300aae63f27240606", nil),
            ("Digest username=\"bob4711\", response=\"\(hex.prefix(32))\", uri=\"/a\"", "\(hex.prefix(32))", "…"),
            ("Digest realm=\"ArealmWithoutDigitsAndPadding\", uri=\"/a\"", "ArealmWithoutDigitsAndPadding", nil),
            ("v1,0123456789abcdefghijklmno12", "0123456789abcdefghijklmno12", "…"),
            ("v1,0123456789abcdefghijklmno1", "0123456789abcdefghijklmno1", nil),
            ("Bearer \(jwt), x=1", jwt.split(separator: ".").joined(separator: " "), nil),
            ("a=1, Bearer_\(hex)", hex, nil),
        ]
    )
    func parts(value: String, text: String, shown: String?) throws {
        let redactor = try redactor([.authorization: value])
        #expect(redactor.text(text) == shown ?? text)
        #expect(redactor.containsSecret(in: text.utf8) == (shown != nil))
    }

    @Test("A random signature is hidden alone, whatever surrounds it in its field")
    func randomParts() throws {
        var random = PipelineRandom.seeded(23)
        for index in 0..<1_000 {
            let signatures = (0..<2).map { _ in
                let bytes = (0..<[20, 32, 64][index % 3]).map { _ in UInt8.random(in: 0...255, using: &random) }
                return index % 2 == 0
                    ? Data(bytes).base64EncodedString() : bytes.map { String($0 >> 4, radix: 16) }.joined() + "0123456"
            }
            let fields = [
                "v1,\(signatures[0]) v1,\(signatures[1])", "sig1=:\(signatures[0]):, sig2=:\(signatures[1]):",
                "t=1,v1=\(signatures[0]),v1=\(signatures[1])", "\(signatures[0]);\(signatures[1])",
                "Signature keyId=\"a\",signature=\"\(signatures[0])\", b=\"\(signatures[1])\"",
            ]
            let redactor = try redactor([.authorization: fields[index % fields.count]])
            for signature in signatures where redactor.text("<\(signature)>") != "<…>" {
                Issue.record("case \(index): \(signature)")
            }
        }
    }

    @Test(
        "The secret pairs of a form are hidden from 16 bytes on; other bodies are not searched",
        arguments: [
            ("application/x-www-form-urlencoded", "a=1&refresh_token=canary%2F123456789&grant_type=x", true),
            ("Application/X-WWW-Form-Urlencoded; charset=utf-8", "client_secret=canary/123456789", true),
            ("application/x-www-form-urlencoded", "refresh=1&redirect_uri=canary/123456789", false),
            ("text/plain", "client_secret=canary/123456789", false),
        ]
    )
    func form(type: String, body: String, isHidden: Bool) throws {
        for (value, isLong) in [("canary/123456789", true), ("canary/1", false)] {
            let text = body.replacing("canary/123456789", with: value).replacing("canary%2F123456789", with: value)
            let request = try PipelineRequest(
                .post,
                url: "https://a.test/",
                headers: [.contentType: type],
                body: .bytes(Data(text.utf8))
            )
            let redactor = Redactor(shownQueryNames: ["client_secret"]).adding(secretsOf: request)
            #expect(redactor.text("<\(value)>") == (isHidden && isLong ? "<…>" : "<\(value)>"))
        }
    }

    @Test("A form may be in another charset", arguments: [String.Encoding.isoLatin1, .utf16LittleEndian, .utf16])
    func formCharset(encoding: String.Encoding) throws {
        let request = try PipelineRequest(
            .post,
            url: "https://a.test/",
            headers: [.contentType: "application/x-www-form-urlencoded"],
            body: .bytes(#require("client_secret=canary-é-123456789".data(using: encoding)))
        )
        #expect(Redactor.standard.adding(secretsOf: request).text("<canary-é-123456789>") == "<…>")
    }

    @Test("A proof of possession is secret, a nonce for one is not")
    func proofs() throws {
        for (name, isSecret) in [("DPoP", true), ("dpop", true), ("DPoP-Nonce", false)] {
            let name = try #require(HTTPField.Name(name))
            #expect(Redactor.soundsSecret(name) == isSecret)
        }
    }

    @Test("The beginnings include those of the parts")
    func beginningsOfParts() throws {
        let request = try PipelineRequest(url: "https://a.test/", headers: [.authorization: Self.aws])
        var secrets = MessageSecrets(beginningsFor: .standard)
        secrets.insert(request.head, queryNames: []) { _ in false }
        let beginnings = try #require(secrets.beginnings)
        #expect(Self.hex.withBytes(beginnings.mayBeFound))
        #expect(!"content-type;host;x-amz-date;x-amz-meta-an0therheader".withBytes(beginnings.mayBeFound))
        #expect(secrets.origins.isEmpty)
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
