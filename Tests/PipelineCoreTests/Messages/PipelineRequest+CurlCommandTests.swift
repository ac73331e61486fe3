import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("cURL command", .realTime, .watched)
struct PipelineRequestCurlCommandTests {
    private func request(
        _ method: HTTPRequest.Method = .get,
        _ url: String = "https://a.test/b",
        headers: HTTPFields = [:],
        body: PipelineBody = .absent
    ) throws -> PipelineRequest {
        try PipelineRequest(method, url: url, headers: headers, body: body)
    }

    /// Returns the arguments that a shell parses from a command, without the command's name.
    private func words(of command: String) throws -> [String] {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "curl() { printf '%s\\0' \"$@\"; }\n" + command]
        process.standardOutput = output
        try process.run(within: 120)
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return data.split(separator: 0, omittingEmptySubsequences: false).dropLast().map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test("A plain request has only the method and the URL")
    func plain() throws {
        #expect(try request().curlCommand() == "curl -X GET 'https://a.test/b'")
    }

    @Test("HEAD becomes --head, because -X HEAD would wait for a body")
    func head() throws {
        #expect(try request(.head).curlCommand() == "curl --head 'https://a.test/b'")
    }

    @Test("Header fields keep their order and repeats, and Content-Length is left to cURL")
    func headerFields() throws {
        var fields = HTTPFields()
        fields.append(HTTPField(name: .vary, value: "a"))
        fields.append(HTTPField(name: .contentLength, value: "0"))
        fields.append(HTTPField(name: .accept, value: "b"))
        fields.append(HTTPField(name: .vary, value: "c"))
        #expect(
            try request(headers: fields).curlCommand()
                == "curl -X GET -H 'Vary: a' -H 'Accept: b' -H 'Vary: c' 'https://a.test/b'"
        )
    }

    @Test("An empty header field is sent, not omitted")
    func emptyField() throws {
        #expect(try request(headers: [.accept: ""]).curlCommand() == "curl -X GET -H 'Accept;' 'https://a.test/b'")
    }

    @Test("A URL with brackets is protected from globbing")
    func globbing() throws {
        #expect(try request(.get, "http://[::1]:8080/").curlCommand() == "curl -X GET --globoff 'http://[::1]:8080/'")
    }

    @Test("A body without a type is not sent as a form")
    func bodyWithoutType() throws {
        let command = try request(.post, body: .bytes(Data("hello".utf8))).curlCommand()
        #expect(command == "curl -X POST -H 'Content-Type:' --data-raw hello 'https://a.test/b'")
    }

    @Test("An empty body is sent as an empty body")
    func emptyBody() throws {
        let command = try request(.post, headers: [.contentType: "text/plain"], body: .bytes(Data())).curlCommand()
        #expect(command == "curl -X POST -H 'Content-Type: text/plain' --data-raw '' 'https://a.test/b'")
    }

    @Test("A body that is not short text in memory becomes a placeholder file")
    func otherBodies() throws {
        let once = AsyncStream<Data> { _ in }
        let bodies: [PipelineBody] = [
            .bytes(Data([0xff, 0xfe])), .bytes(Data([0])), .file(URL(filePath: "/nowhere/secret")), .stream(once),
            .bytes(Data(repeating: 0x61, count: 11)),
        ]
        for body in bodies {
            for redactor in [Redactor.standard, .revealingSecrets] {
                let command = try request(.put, headers: [.contentType: "text/plain"], body: body)
                    .curlCommand(redactor: redactor, bodyLimit: 10)
                #expect(command == "curl -X PUT -H 'Content-Type: text/plain' --data-binary @body 'https://a.test/b'")
            }
        }
    }

    @Test("The command contains no secrets")
    func redacted() throws {
        var request = try request(
            .post,
            "https://a.test/b?token=canary-1",
            headers: [
                .authorization: "Bearer canary-2", .cookie: "canary-3", .proxyAuthorization: "canary-4",
                .referer: "https://a.test/?code=canary-5", .contentType: "application/json",
            ],
            body: .bytes(Data(#"{"password":"canary-6","a":1}"#.utf8))
        )
        try request.setHeader("canary-7", for: .eTag, isSecret: true)
        let command = request.curlCommand()
        #expect(!command.contains("canary"))
        #expect(command.contains(#"--data-raw '{"password":"…","a":1}'"#))
        request.body = .bytes(Data(#"{"password":"canary-6"#.utf8))
        #expect(!request.curlCommand().contains("canary"))
    }

    @Test(
        "A shell reads back exactly what the request holds",
        arguments: [
            "it's", "''", "'\u{301}; echo injected '", "$(echo injected)", "`echo injected`", "\"$HOME\"", "a\\b\\",
            "a\\'b",
            "@/etc/hostname", "-d", "*", "~", "a b\tc", "line\nline\n", "\r\n", "é…😀", "!history", "#x", "{a,b}",
            "a&b;c|d>e",
            "%s%n", "'", " ",
        ]
    )
    func quoting(text: String) throws {
        var request = try request(.post, "https://a.test/b?q='$x'", body: .bytes(Data(text.utf8)))
        request.headers[.contentType] = "text/plain"
        let isFieldValue = HTTPField.isValidValue(text)
        if isFieldValue { request.headers[.userAgent] = text }
        let field = isFieldValue ? ["-H", "User-Agent: " + text] : []
        let expected =
            ["-X", "POST", "-H", "Content-Type: text/plain"] + field + ["--data-raw", text, "https://a.test/b?q='$x'"]
        #expect(try words(of: request.curlCommand(redactor: .revealingSecrets)) == expected)
    }
}
