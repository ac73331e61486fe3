import Foundation
import Pipeline
import Synchronization

/// A server with a resource for each way of caching.
///
/// A body contains the number of requests that have reached the server.
final class DemoOrigin: Sendable {
    /// The paths that the page offers.
    static let resources = [
        "/fresh", "/validated", "/stale", "/language", "/private", "/never", "/cdn", "/slow", "/guessed",
    ]

    private let counts = Mutex<[String: Int]>([:])

    @Sendable
    func respond(to request: IncomingRequest) async -> OutgoingResponse {
        let path = request.head.path ?? ""
        guard request.head.method == .get || request.head.method == .head else {
            return .text(.methodNotAllowed, "", [.allow: "GET, HEAD"])
        }
        if path == "/" {
            return .text(.found, "", [.location: StatusPage.path, .cacheControl: "no-store"])
        }
        guard Self.resources.contains(path) else { return .text(.notFound, "The demo server has no such resource.\n") }
        let text = "\(path), request \(count(path)) to the origin\n"
        switch path {
        case "/fresh": return .text(.ok, text, [.cacheControl: "max-age=30"])
        case "/validated": return validated(request)
        case "/stale": return .text(.ok, text, [.cacheControl: "max-age=3, stale-while-revalidate=60"])
        case "/language": return .text(.ok, text, [.cacheControl: "max-age=30", .vary: "Accept-Language"])
        case "/private": return .text(.ok, text, [.cacheControl: "private, max-age=30"])
        case "/cdn": return cdn(text)
        case "/slow":
            try? await Task.sleep(for: .seconds(1))
            return .text(.ok, text, [.cacheControl: "max-age=10"])
        case "/guessed": return .text(.ok, text, [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"])
        default: return .text(.ok, text, [.cacheControl: "no-store"])
        }
    }

    private func count(_ path: String) -> Int {
        counts.withLock {
            $0[path, default: 0] += 1
            return $0[path, default: 0]
        }
    }

    /// Must be revalidated before each use; never changes.
    private func validated(_ request: IncomingRequest) -> OutgoingResponse {
        let fields: HTTPFields = [.cacheControl: "no-cache", .eTag: "\"1\""]
        if request.head.headerFields[.ifNoneMatch] == "\"1\"" {
            return OutgoingResponse(head: HTTPResponse(status: .notModified, headerFields: fields), body: .absent)
        }
        return .text(.ok, "validated\n", fields)
    }

    /// Only caches that obey CDN-Cache-Control store this (RFC 9213).
    private func cdn(_ text: String) -> OutgoingResponse {
        var fields: HTTPFields = [.cacheControl: "no-store"]
        if let name = HTTPField.Name("CDN-Cache-Control") { fields[name] = "max-age=30" }
        return .text(.ok, text, fields)
    }
}
