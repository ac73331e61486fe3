import Foundation
import PipelineTesting
import Synchronization

/// A small server with the API of GitHub and made-up data, and another one for the files of releases.
final class StandIn: Sendable {
    static let asset = Data((0..<3_000).map { UInt8(truncatingIfNeeded: $0 &* $0 &+ $0 / 7) })
    /// The date at which a `ManualClock` begins, and an hour.
    static let reset = 1_767_225_600 + 3_600

    let api: LoopbackServer
    let files: LoopbackServer

    /// Starts both servers, which cut off some responses with the asset, or refuse all requests to the API.
    init(cutCount: Int = 0, refusal: (status: Int, fields: [(String, String)])? = nil) throws {
        let cuts = Counter(cutCount)
        let files = try LoopbackServer { Self.file(for: $0, isCut: cuts.decrement()) }
        self.files = files
        let (origin, remaining) = (files.url.absoluteString, Counter(60))
        api = try LoopbackServer { request in
            if let refusal { return [.json(["message": "Refused"], refusal.status, refusal.fields)] }
            if request.values(of: "Authorization") == ["Bearer expired"] {
                return [.json(["message": "Bad credentials"], 401)]
            }
            return [Self.respond(to: request, filesAt: origin, remaining)]
        }
    }

    var server: String { api.url.absoluteString }
    /// The paths of the requests to the API.
    var paths: [String] { api.requests.map { String($0.target.prefix { $0 != "?" }) } }

    /// The values of a field in the requests for the asset; an empty text for a request without the field.
    func fileFields(_ name: String) -> [String] { files.requests.map { $0.values(of: name).first ?? "" } }

    private static func respond(
        to request: LoopbackServer.Request,
        filesAt origin: String,
        _ remaining: Counter
    ) -> LoopbackServer.Action {
        let path = request.target.prefix { $0 != "?" }
        switch path {
        case "/users/octo-org/repos": return page(of: MadeUp.repositories, request, remaining)
        case "/repos/octo-org/hello-world/issues": return page(of: MadeUp.issues, request, remaining)
        case "/repos/octo-org/hello-world/releases/latest": return .json(MadeUp.release)
        case "/repos/octo-org/hello-world/releases/assets/7":
            return .respond(302, headers: [("Location", "\(origin)/assets/7?signature=9f86d081884c7d65")])
        case "/repos/octo-org/hello-world/contents/docs/100%2525.md", "/repos/octo-org/kelp/contents/docs/100%2525.md":
            return .respond(200, headers: [("Content-Type", "application/vnd.github.raw+json")], body: MadeUp.text)
        case "/rate_limit":
            let core = ["limit": 60, "remaining": remaining.value, "reset": reset]
            return .json(["resources": ["core": core, "search": ["limit": 10, "remaining": 10, "reset": reset]]])
        default: return .json(["message": "Not Found"], 404)
        }
    }

    /// Returns one page of four items, or 304, which does not count against the rate limit.
    private static func page(
        of items: [[String: any Sendable]],
        _ request: LoopbackServer.Request,
        _ remaining: Counter
    ) -> LoopbackServer.Action {
        let number = request.target.firstMatch(of: /[?&]page=(\d+)/).flatMap { Int($0.1) } ?? 1
        let isKnown = request.values(of: "If-None-Match") == ["W/\"page-\(number)\""]
        if !isKnown { _ = remaining.decrement() }
        var fields = [
            ("Cache-Control", "private, max-age=60, s-maxage=60"), ("ETag", "W/\"page-\(number)\""),
            ("Vary", "Accept, Authorization"), ("x-ratelimit-limit", "60"),
            ("x-ratelimit-remaining", String(remaining.value)), ("x-ratelimit-reset", String(reset)),
        ]
        if number * 4 < items.count, let host = request.values(of: "Host").first {
            let next = request.target.replacing("&page=\(number)", with: "") + "&page=\(number + 1)"
            fields.append(("Link", "<http://\(host)\(next)>; rel=\"next\""))
        }
        if isKnown { return .respond(304, headers: fields) }
        return .json(Array(items.dropFirst((number - 1) * 4).prefix(4)), 200, fields)
    }

    /// Returns the asset or, if the validator matches, the rest of it.
    private static func file(for request: LoopbackServer.Request, isCut: Bool) -> [LoopbackServer.Action] {
        let range = request.values(of: "Range").first?.wholeMatch(of: /bytes=(\d+)-/)
        var (status, start) = (200, 0)
        var head = [("ETag", "\"asset-7\""), ("Accept-Ranges", "bytes"), ("Content-Type", "application/octet-stream")]
        if let offset = range.flatMap({ Int($0.1) }), request.values(of: "If-Range") == ["\"asset-7\""] {
            (status, start) = (206, offset)
            head.append(("Content-Range", "bytes \(offset)-\(asset.count - 1)/\(asset.count)"))
        }
        let body = asset.dropFirst(start)
        guard isCut else { return [.respond(status, headers: head, body: Data(body))] }
        let lines = head.map { "\($0): \($1)\r\n" }.joined()
        let text = "HTTP/1.1 \(status) Status\r\n\(lines)Content-Length: \(body.count)\r\n\r\n"
        return [.send(Data(text.utf8) + body.prefix(body.count / 2)), .close]
    }
}

/// A number that the threads of a server share.
final class Counter: Sendable {
    private let state: Mutex<Int>

    init(_ value: Int) { state = Mutex(value) }

    var value: Int { state.withLock(\.self) }

    /// Subtracts 1 if the value is more than 0; returns whether it was.
    func decrement() -> Bool {
        state.withLock { value in
            guard value > 0 else { return false }
            value -= 1
            return true
        }
    }
}

extension LoopbackServer.Action {
    static func json(_ value: Any, _ status: Int = 200, _ fields: [(String, String)] = []) -> Self {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        let body = (try? JSONSerialization.data(withJSONObject: value, options: options)) ?? Data()
        return .respond(status, headers: [("Content-Type", "application/json; charset=utf-8")] + fields, body: body)
    }
}
