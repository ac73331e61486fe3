import Foundation
import Pipeline

/// The page with hits and misses; every other path goes to the proxy and into the log.
struct StatusPage: Sendable {
    /// The path of the page, under which its parts are.
    static let path = "/.cache"

    let log: RequestLog
    let proxy: ReverseProxy

    func respond(to request: IncomingRequest) async -> OutgoingResponse {
        let path = request.head.path ?? ""
        if path == Self.path || path.hasPrefix(Self.path + "/") { return part(path, of: request) }
        let clock = ContinuousClock()
        let start = clock.now
        let response = await proxy.respond(to: request)
        let name = HTTPField.Name("Cache-Status")
        log.add(
            method: request.head.method.rawValue,
            path: path,
            status: response.head.status.code,
            cacheStatus: name.flatMap { response.head.headerFields[values: $0].last } ?? "",
            duration: clock.now - start
        )
        return response
    }

    private func part(_ path: String, of request: IncomingRequest) -> OutgoingResponse {
        // A name that a foreign site resolves to this machine must not read the log.
        guard Self.isLoopback(request.head.authority) else {
            return .text(.misdirectedRequest, "Open the page at 127.0.0.1 or localhost.\n", Self.fields)
        }
        guard request.head.method == .get || request.head.method == .head else {
            return .text(.methodNotAllowed, "", Self.fields.adding("GET, HEAD", for: .allow))
        }
        return switch path.dropFirst(Self.path.count) {
        case "": .text(.ok, PageText.html, type: "text/html; charset=utf-8", Self.fields)
        case "/page.css": .text(.ok, PageText.css, type: "text/css; charset=utf-8", Self.fields)
        case "/page.js": .text(.ok, PageText.script, type: "text/javascript; charset=utf-8", Self.fields)
        case "/requests": requests()
        default: .text(.notFound, "The page has no such part.\n", Self.fields)
        }
    }

    private func requests() -> OutgoingResponse {
        do {
            let json = try JSONEncoder().encode(log.snapshot)
            return .text(.ok, String(decoding: json, as: UTF8.self), type: "application/json", Self.fields)
        } catch {
            return .text(.internalServerError, "The log cannot be encoded.\n", Self.fields)
        }
    }

    private static func isLoopback(_ authority: String?) -> Bool {
        let host = (authority ?? "").split(separator: ":", omittingEmptySubsequences: false).first ?? ""
        return host == "127.0.0.1" || host.lowercased() == "localhost"
    }

    /// The script inserts paths as text only; the policy would stop a script or a style in the page even so.
    private static let fields: HTTPFields = [
        .cacheControl: "no-store",
        .contentSecurityPolicy: """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
        frame-ancestors 'none'
        """,
        .xContentTypeOptions: "nosniff",
    ]
}

extension HTTPFields {
    fileprivate func adding(_ value: String, for name: HTTPField.Name) -> HTTPFields {
        var copy = self
        copy[name] = value
        return copy
    }
}
