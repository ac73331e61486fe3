import FlyingFox
import Foundation

/// The server side of the archive. It counts the requests of each kind.
actor ArchiveServer {
    static let password = "correct horse battery staple"

    private var counts: [String: Int] = [:]
    private var kept = Data()
    private var keptCoding = ""

    nonisolated func addRoutes(to server: HTTPServer) async {
        let root = "/archive.example"
        await server.appendRoute(HTTPRoute("GET \(root)/catalogue")) { [self] _ in
            let count = await add("catalogue")
            guard count > 2 else { return try .refusal(.serviceUnavailable, "the catalogue is unavailable") }
            return try .json(ArchiveAnswer(count: count))
        }
        await server.appendRoute(HTTPRoute("GET \(root)/report")) { [self] _ in
            let count = await add("report")
            try await Task.sleep(for: .seconds(1))
            return try .json(ArchiveAnswer(count: count))
        }
        await server.appendRoute(HTTPRoute("POST \(root)/text")) { [self] request in
            try await keep(try await request.bodyData, coding: request.headers[.contentEncoding] ?? "")
        }
        await server.appendRoute(HTTPRoute("GET \(root)/text")) { [self] _ in await giveBack() }
        await server.appendRoute(HTTPRoute("GET \(root)/members")) { [self] request in
            let count = await add("members")
            guard request.headers[.authorization] == "Bearer fresh-0123456789" else {
                return try .refusal(.unauthorized, "the token has expired")
            }
            return try .json(ArchiveAnswer(count: count))
        }
        await server.appendRoute(HTTPRoute("POST \(root)/token")) { [self] request in
            let form = try JSONDecoder().decode([String: String].self, from: try await request.bodyData)
            guard form["password"] == Self.password else { return try .refusal(.forbidden, "the password is wrong") }
            return try .json(ArchiveAnswer(count: await add("token"), token: "fresh-0123456789"))
        }
    }

    private func add(_ name: String) -> Int {
        counts[name, default: 0] += 1
        return counts[name, default: 0]
    }

    private func keep(_ data: Data, coding: String) throws -> HTTPResponse {
        kept = data
        keptCoding = coding
        return try .json(ArchiveAnswer(count: add("keep"), byteCount: data.count, coding: coding))
    }

    /// Returns the stored bytes in their coding, with their number in a header field that decoding transports keep.
    private func giveBack() -> HTTPResponse {
        .bytes(kept, coding: keptCoding)
    }
}
