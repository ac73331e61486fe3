import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting

/// A generated conversation with a server: a login, and requests that hold its session in many places.
struct RecordedLogin: Sendable {
    struct Request: Sendable {
        var method = HTTPRequest.Method.get
        var url: String
        var headers: HTTPFields = [:]
        var body: String?
        /// The body of the server's response, different for each request.
        var marker: String
        /// Whether the session is also outside the fields and items with a secret name.
        var isElsewhere = false

        func apply(to request: inout PipelineRequest) throws {
            request = try PipelineRequest(
                HTTPRequest.Method(rawValue: method.rawValue) ?? .get,
                url: url,
                headers: headers,
                body: body.map { .bytes(Data($0.utf8)) } ?? .absent
            )
        }
    }

    /// The kind of a session value, which decides how a recording treats it outside of secret fields and items.
    enum Kind: CaseIterable, Sendable {
        case hex, uuid, base64, base64URL, signed, host, address, date, timestamp, word, path, url, short, number
    }

    let kind: Kind
    let secret: String
    private let shape: [UInt64]

    init(_ kind: Kind, _ random: inout PipelineRandom) {
        self.kind = kind
        let bytes = Data((0..<24).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let url = bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        secret =
            switch kind {
            case .hex: hex
            case .uuid:
                "\(hex.prefix(8))-\(hex.dropFirst(8).prefix(4))-\(hex.dropFirst(12).prefix(4))-\(hex.suffix(12))"
            case .base64: (bytes + Data([0xfb, 0xff])).base64EncodedString()
            case .base64URL: url
            case .signed: "eyJhbGciOiJIUzI1NiJ9.\(url).Zz\(url.suffix(20))"
            case .host: "api.example"
            case .address: "192.168.100.200"
            case .date: "2026-11-21T02:12:26.119Z"
            case .timestamp: "1795227146119"
            case .word: "dashboards"
            case .path: "/account/home/items"
            case .url: "https://api.example/account/home"
            case .short: String(hex.prefix(12))
            case .number: "100200300"
            }
        shape = (0..<6).map { _ in UInt64.random(in: .min ... .max, using: &random) }
    }

    /// Whether the value is replaced everywhere.
    var isReplaced: Bool { [.hex, .uuid, .base64, .base64URL, .signed].contains(kind) }

    var response: HTTPFields { [.setCookie: "sid=\(Self.escaped(secret)); Path=/", .contentType: "application/json"] }

    /// Returns the requests of a client whose session has this value.
    func requests(session: String) -> [Request] {
        let login = Request(
            method: .post,
            url: "https://api.example/login",
            headers: [.contentType: "application/x-www-form-urlencoded"],
            body: "user=u&password=p4ssw0rd",
            marker: "login"
        )
        return [login] + shape.enumerated().map { request($0.offset, $0.element, session) }
    }

    private func request(_ number: Int, _ bits: UInt64, _ session: String) -> Request {
        let value = Self.escaped(session)
        var request = Request(url: "https://api.example", marker: "marker \(number)")
        request.isElsewhere = bits & 0b100_1011 != 0
        request.url += bits & 1 != 0 ? "/s/\(value)/items/\(number)" : "/items/\(number)"
        if bits & 2 != 0 { request.url += "/pre-\(value).json" }
        request.url += "?page=\(number)"
        if bits & 4 != 0 { request.url += "&access_token=\(value)" }
        if bits & 8 != 0 { request.url += "&ref=\(value)" }
        if bits & 16 != 0 { request.headers[.cookie] = "a=1; sid=\(value)" }
        if bits & 32 != 0 { request.headers[.authorization] = "Bearer \(session)" }
        guard bits & 64 != 0 else { return request }
        request.method = .post
        switch bits >> 7 & 3 {
        case 0:
            request.headers[.contentType] = "application/json"
            request.body = #"{"n": \#(number), "ref": "\#(session)", "password": "x"}"#
        case 1:
            request.headers[.contentType] = "application/x-www-form-urlencoded"
            request.body = "n=\(number)&ref=\(value)&ref=a"
        case 2:
            request.headers[.contentType] = "multipart/form-data; boundary=b"
            request.body =
                "--b\r\nContent-Disposition: form-data; name=\"ref\"\r\n\r\n\(session)\r\n--b\r\n"
                + "Content-Disposition: form-data; name=\"n\"\r\n\r\n\(number)\r\n--b--\r\n"
        default:
            request.headers[.contentType] = "text/plain"
            request.body = "n \(number)\nref \(session)\n"
        }
        return request
    }

    private static func escaped(_ text: String) -> String {
        let unreserved = CharacterSet(charactersIn: "-._~").union(.alphanumerics)
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }
}
