import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

/// A target whose request a plugin replaces.
private struct Sent: TargetType {
    var baseURL: URL { URL(string: "https://h.example") ?? URL(filePath: "/") }
    var path: String { "" }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
}

@Suite("F13 A redacted recording matches the same requests", .watched)
struct RedactedReplayTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "redacted-\(UUID())")
    private var url: URL { folder.appending(path: "a.har") }

    private func provider(_ transport: any Transport, _ recorded: RecordedExchange.Request) -> Provider<Sent> {
        Provider(
            transport: transport,
            plugins: [
                .prepare { request, _ in
                    request = try PipelineRequest(
                        try #require(HTTPRequest.Method(rawValue: recorded.method)),
                        url: recorded.url,
                        headers: recorded.headers,
                        body: recorded.body.map { .bytes($0) } ?? .absent
                    )
                }
            ],
            configuration: .init(redirects: .never)
        )
    }

    /// Redacts a file and sends each of its original requests to the result and to the file.
    private func check(_ file: HARFile, _ name: String) async throws {
        // Values too short to be replaced are reported, but the result is still written.
        do { _ = try RedactedRecording(file, RecordingRedaction(.standard)).write(to: url) } catch let error
            as PipelineError
        {
            #expect(error.code == .recording(.secret))
        }
        let result = try HARFile(contentsOf: url)
        #expect(RecordingCheck.findings(of: url).filter { $0.place == "request.bodySize" } == [])
        let transports = [try ReplayTransport(url), try ReplayTransport(try #require(file.url))]
        for index in 0..<file.count {
            let exchange = try file.exchange(at: index)
            for (transport, source) in zip(transports, [result, file]) {
                let expected = try source.exchange(at: index)
                do {
                    let response = try await provider(transport, exchange.request).request(Sent())
                    #expect(response.statusCode == expected.response?.status, "\(name), entry \(index)")
                    #expect(response.data == expected.response?.body, "\(name), entry \(index)")
                } catch let error as PipelineError {
                    #expect(error.code.rawValue == expected.failure?.code, "\(name), entry \(index): \(error)")
                }
            }
        }
        for transport in transports { try transport.recording.assertAllUsed() }
    }

    private static let samples = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../HAR/Samples").standardizedFileURL

    @Test(
        "F13 each request of a sample gets the response of its own entry, in clear text and redacted",
        arguments: ["mitmproxy-11.0.2-https-h2-httpbin.har", "mitmproxy-11.0.2-proxy-httpbin.har"]
    )
    func sample(name: String) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await check(try HARFile(contentsOf: Self.samples.appending(path: name)), name)
    }

    @Test(
        "F13 each request of a generated login gets the response of its own entry, in clear text and redacted",
        arguments: 1...40
    )
    func generated(seed: Int) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var random = PipelineRandom.seeded(UInt64(seed))
        var file = HARFile()
        let secrets = (0..<4).map { _ in Self.secret(&random) }
        let login = Sample.exchange("GET", "https://h.example/login") {
            $0.response?.headers[.setCookie] = secrets.enumerated().map { "s\($0.offset)=\($0.element)" }
                .joined(separator: ", ")
        }
        file.append(HAREntry(login))
        for number in 0..<12 { file.append(Self.entry(number, secrets, &random)) }
        let clear = folder.appending(path: "clear.har")
        try file.write(to: clear)
        try await check(try HARFile(contentsOf: clear), "seed \(seed)")
        let text = try String(contentsOf: url, encoding: .utf8)
        for secret in secrets where secret.utf8.count >= 24 && !secret.contains("example") && !secret.contains(":") {
            #expect(!Redactor(secretValues: [secret]).containsSecret(in: text.utf8), "seed \(seed)")
        }
    }

    private static func secret(_ random: inout PipelineRandom) -> String {
        let bytes = Data((0..<24).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return switch Int.random(in: 0..<8, using: &random) {
        case 0: "h.example"
        case 1: "2026-11-21T02:12:26Z"
        case 2: "dashboards"
        case 3: String(hex.prefix(12))
        case 4: bytes.base64EncodedString()
        default: hex
        }
    }

    /// Returns an entry as other writers produce it, with a session in its path, query, cookie or body.
    private static func entry(_ number: Int, _ secrets: [String], _ random: inout PipelineRandom) -> HAREntry {
        let secret = secrets[Int.random(in: 0..<secrets.count, using: &random)]
        let unreserved = CharacterSet(charactersIn: "-._~").union(.alphanumerics)
        let value = secret.addingPercentEncoding(withAllowedCharacters: unreserved) ?? secret
        func chance() -> Bool { Bool.random(using: &random) }
        var exchange = Sample.exchange("GET", "https://h.example", body: "{\"n\":\(number)}")
        exchange.request.url += chance() ? "/s/\(value)/\(number)" : "/\(number)"
        exchange.request.url +=
            "?page=\(number)" + (chance() ? "&session=\(value)" : "") + (chance() ? "&ref=x\(value)" : "")
        if chance() { exchange.request.headers[.cookie] = "theme=dark; sid=\(value)" }
        if chance() { exchange.response?.headers[.setCookie] = "a=b; Path=/, sid=\(value); Path=/" }
        guard chance() else { return HAREntry(exchange) }
        exchange.request.method = "POST"
        exchange.request.headers[.contentType] = "application/x-www-form-urlencoded"
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            exchange.request.headers[.contentType] = "text/plain"
            exchange.request.body = Data("ref: \(secret)\nn: \(number)".utf8)
        case 1:
            exchange.request.headers[.contentType] = "multipart/form-data; boundary=b"
            let head = "--b\r\nContent-Disposition: form-data; name="
            exchange.request.body = Data(
                "\(head)\"token\"\r\n\r\n\(secret)\r\n\(head)\"ref\"\r\n\r\n\(secret)\r\n--b--\r\n".utf8
            )
            var entry = HAREntry(exchange)
            entry.json["request"]?["postData"]?["mimeType"] = .string("multipart/form-data")
            return entry
        case 2:
            exchange.request.body = Data("ref=\(value)&password=abc".utf8)
            var entry = HAREntry(exchange)
            let params = [("ref", secret), ("password", "abc")].map {
                JSONNode.object(["name": .string($0.0), "value": .string($0.1)])
            }
            entry.json["request"]?["postData"]?["params"] = .array(params)
            entry.json["request"]?["postData"]?["text"] = .string("")
            return entry
        default:
            // Latin-1, as mitmproxy writes bytes.
            exchange.request.headers[.contentType] = "text/plain"
            let text = "gr\u{fc}n \(secret) ?token=\(value)"
            exchange.request.body = text.data(using: .isoLatin1)
            var entry = HAREntry(exchange)
            entry.json["request"]?["postData"] = .object(["mimeType": .string("text/plain"), "text": .string(text)])
            return entry
        }
        return HAREntry(exchange)
    }
}
