import Foundation
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import PipelineSigning

@Suite("SignatureComponent", .watched)
struct SignatureComponentTests {
    private static let example = "https://www.example.com/path?param=value"

    private static func message(_ url: String = example, _ method: HTTPRequest.Method = .get) throws -> SignedMessage {
        SignedMessage(try PipelineRequest(method, url: url).head)
    }

    private static func field(_ name: String, _ form: SignatureComponent.FieldForm = .text) -> SignatureComponent {
        HTTPField.Name(name).map { .field($0, form) } ?? .method
    }

    @Test(
        "Derived components have the values of RFC 9421 §2.2",
        arguments: [
            (SignatureComponent.method, example, "GET"), (.targetURI, example, example),
            (.authority, example, "www.example.com"), (.authority, "https://WWW.Example.com:443/", "www.example.com"),
            (.authority, "http://a.test:8080/", "a.test:8080"), (.scheme, "http://a.test/", "http"),
            (.requestTarget, example, "/path?param=value"), (.path, example, "/path"), (.path, "https://a.test", "/"),
            (.query, example, "?param=value"),
            (
                .query, "https://a.test/path?param=value&foo=bar&baz=bat%2Dman", "?param=value&foo=bar&baz=bat%2Dman"
            ),
            (.query, "https://a.test/path?queryString", "?queryString"), (.query, "https://a.test/path", "?"),
            (.targetURI, "https://a.test?b", "https://a.test/?b"),
        ]
    )
    func derived(component: SignatureComponent, url: String, value: String) throws {
        #expect(try Self.message(url).value(of: component) == value)
    }

    @Test(
        "Query parameters have the values of RFC 9421 §2.2.8",
        arguments: [
            ("param=value&foo=bar&baz=batman&qux=", "baz", "batman"), ("a=1&qux=", "qux", ""), ("a", "a", ""),
            ("var=this%20is%20a%20big%0Amultiline%20value&b=1", "var", "this%20is%20a%20big%0Amultiline%20value"),
            ("bar=with+plus+whitespace", "bar", "with%20plus%20whitespace"),
            ("fa%C3%A7ade%22%3A%20=something", "façade\": ", "something"), ("a=b=c", "a", "b%3Dc"),
            ("a=~!*", "a", "%7E%21*"), ("a=%zz%4", "a", "%25zz%254"),
        ]
    )
    func queryParameters(query: String, name: String, value: String) throws {
        let head = HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: "/?" + query)
        #expect(try SignedMessage(head).value(of: .queryParameter(name)) == value)
    }

    @Test("A query parameter that is absent or repeated cannot be signed", arguments: ["b=1", "a=1&a=2", "a=1&%61=1"])
    func repeatedParameter(query: String) throws {
        let message = try Self.message("https://a.test/?" + query)
        #expect(throws: MessageSignatureError(.missingComponent, #""@query-param";name="a""#)) {
            try message.value(of: .queryParameter("a"))
        }
    }

    @Test("CONNECT and OPTIONS * have the targets of RFC 9421 §2.2.5")
    func targets() throws {
        let connect = SignedMessage(HTTPRequest(method: .connect, scheme: nil, authority: "a.test:80", path: nil))
        #expect(try connect.value(of: .requestTarget) == "a.test:80")
        #expect(throws: MessageSignatureError.self) { try connect.value(of: .path) }
        let options = SignedMessage(HTTPRequest(method: .options, scheme: "https", authority: "a.test", path: "*"))
        #expect(try options.value(of: .requestTarget) == "*")
        #expect(try options.value(of: .targetURI) == "https://a.test")
    }

    private static let fields: [(String, String)] = [
        ("X-OWS-Header", "  Leading and trailing whitespace. \t"), ("Cache-Control", "max-age=60"),
        ("Cache-Control", "    must-revalidate"), ("X-Empty", ""),
        ("Example-Dict", " a=1,    b=2;x=1;y=2,   c=(a   b   c), d"), ("Example-Header", "value, with, lots"),
        ("Example-Header", "of, commas"), ("Priority", "u=1,   i"), ("Content-Encoding", "gzip,br"),
        ("Retry-After", " 120 "), ("Signature", "a=:AQ:,b=:AQ==:"), ("Cookie", "a=1"), ("Cookie", "b=2"),
    ]

    @Test(
        "Fields have the values of RFC 9421 §2.1",
        arguments: [
            (field("x-ows-header"), "Leading and trailing whitespace."),
            (field("cache-control"), "max-age=60, must-revalidate"), (field("x-empty"), ""),
            (field("cache-control", .structured), "max-age=60, must-revalidate"),
            (field("example-dict"), "a=1,    b=2;x=1;y=2,   c=(a   b   c), d"),
            (field("example-dict", .member("a")), "1"), (field("example-dict", .member("b")), "2;x=1;y=2"),
            (field("example-dict", .member("c")), "(a b c)"), (field("example-dict", .member("d")), "?1"),
            (field("example-header", .binary), ":dmFsdWUsIHdpdGgsIGxvdHM=:, :b2YsIGNvbW1hcw==:"),
            (field("example-header"), "value, with, lots, of, commas"), (field("priority", .structured), "u=1, i"),
            (field("content-encoding", .structured), "gzip, br"), (field("retry-after", .structured), "120"),
            (field("signature", .structured), "a=:AQ==:, b=:AQ==:"), (field("cookie"), "a=1; b=2"),
        ]
    )
    func fieldValues(component: SignatureComponent, value: String) throws {
        let head = HTTPResponse(status: .ok, headerFields: SignatureVectors.headers(Self.fields))
        #expect(try SignedMessage(head, to: nil).value(of: component) == value)
        let request = HTTPRequest(
            method: .get,
            scheme: "https",
            authority: "a.test",
            path: "/",
            headerFields: SignatureVectors.headers(Self.fields)
        )
        #expect(try SignedMessage(head, to: request).value(of: component.ofRequest) == value)
    }

    @Test(
        "A component that a message does not have, or that is ambiguous, cannot be signed",
        arguments: [
            (field("date"), MessageSignatureError.Reason.missingComponent),
            (field("example-dict", .member("x")), .missingComponent),
            (field("x-ows-header", .structured), .unsupportedComponent), (field("x-text", .member("a")), .malformed),
            (.method, .unsupportedComponent), (field("set-cookie"), .unsupportedComponent),
            (field("x-high"), .unsupportedComponent), (.method.ofRequest, .missingComponent),
        ]
    )
    func refused(component: SignatureComponent, reason: MessageSignatureError.Reason) throws {
        let more = [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("X-High", "é"), ("X-Text", "a b")]
        let head = HTTPResponse(status: .ok, headerFields: SignatureVectors.headers(Self.fields + more))
        let error = #expect(throws: MessageSignatureError.self) {
            try SignedMessage(head, to: nil).value(of: component)
        }
        #expect(error?.reason == reason)
    }

    @Test("Blanks around a value that a lenient parser kept are not signed", arguments: [false, true])
    func blanks(isBinary: Bool) throws {
        let name = try #require(HTTPField.Name("X-A"))
        var request = HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: "/")
        request.headerFields.append(HTTPField(name: name, lenientValue: Array(" \ta b\t ".utf8)))
        let component = SignatureComponent.field(name, isBinary ? .binary : .text)
        #expect(try SignedMessage(request).value(of: component) == (isBinary ? ":YSBi:" : "a b"))
    }

    @Test("A request has neither a status nor components of another request")
    func request() throws {
        for component in [SignatureComponent.status, .method.ofRequest] {
            let error = #expect(throws: MessageSignatureError.self) { try Self.message().value(of: component) }
            #expect(error?.reason == .unsupportedComponent)
        }
    }

    @Test(
        "Identifiers are read in any order of parameters, and malformed ones are refused",
        arguments: [
            (#""@method""#, SignatureComponent.method), (#""@method";req"#, .method.ofRequest),
            (#""priority";req;key="u""#, field("priority", .member("u")).ofRequest),
            (#""@query-param";name="a%20b""#, .queryParameter("a b")), (#""Date""#, nil), ("date", nil),
            (#""date";tr"#, nil), (#""date";bs;sf"#, nil), (#""date";bs;key="a""#, nil), (#""@method";sf"#, nil),
            (#""@query-param""#, nil), (#""date";name="a""#, nil), (#""date";req=1"#, nil), (#""date";sf=?0"#, nil),
            (#""@signature-params""#, nil), (#""date";x"#, nil), (#""""#, nil),
        ]
    )
    func identifiers(text: String, component: SignatureComponent?) async throws {
        let fields = SignatureVectors.signature("sig1", "(\(text) \"x-required\")", "AA==")
        let read = Mutex<SignatureComponent?>(nil)
        let verifier = MessageVerifier(
            keys: { signature in
                read.withLock { $0 = signature.components.first }
                return nil
            },
            required: [.field(try #require(HTTPField.Name("X-Required")))],
            maximumAge: nil
        )
        let error = await #expect(throws: MessageSignatureError.self) {
            try await verifier.verify(request: SignatureVectors.request(signature: fields), body: Data())
        }
        #expect(read.withLock { $0 } == component)
        #expect((error?.reason == .unknownKey) == (component != nil))
    }

    @Test("A component shows its identifier")
    func description() {
        #expect(SignatureComponent.queryParameter("a b").description == #""@query-param";name="a%20b""#)
        #expect(Self.field("Priority", .member("u")).ofRequest.description == #""priority";key="u";req"#)
    }
}
