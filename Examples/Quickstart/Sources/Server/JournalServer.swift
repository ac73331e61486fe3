import FlyingFox
import Foundation

/// The server side of the journal, one for each environment. It stores accounts, tokens, and posts with their files.
actor JournalServer {
    private struct Account: Decodable {
        let email: String
        let name: String
        let password: String
    }

    private struct Entry {
        var post: Post
        var files: [String: MultipartForm.Part] = [:]
    }

    private let root: String
    private var accounts: [String: Account] = [:]
    private var tokens: Set<String> = []
    private var entries: [Entry] = []
    private var lastID = 0

    init(host: String) {
        root = "/\(host)/v1"
    }

    nonisolated func addRoutes(to server: HTTPServer) async {
        await server.appendRoute(HTTPRoute("POST \(root)/auth/signup")) { [self] request in
            try await signup(await request.bodyData)
        }
        await server.appendRoute(HTTPRoute("POST \(root)/auth/login")) { [self] request in
            try await login(request.headers[.authorization])
        }
        await server.appendRoute(HTTPRoute("GET \(root)/posts")) { [self] request in
            try await list(request.query)
        }
        await server.appendRoute(HTTPRoute("POST \(root)/posts")) { [self] request in
            try await write(request) { try await create($0) }
        }
        await server.appendRoute(HTTPRoute("POST \(root)/posts/:id/images")) { [self] request in
            try await write(request) { try await attach($0, to: request.routeParameters["id"]) }
        }
        await server.appendRoute(HTTPRoute("GET \(root)/posts/:id/attachments/:name")) { [self] request in
            try await file(request.routeParameters["name"], of: request.routeParameters["id"])
        }
        await server.appendRoute(HTTPRoute("DELETE \(root)/posts/:id")) { [self] request in
            guard await allows(request) else { return try Self.refusal(.unauthorized, "writing requires a token") }
            return try await delete(request.routeParameters["id"])
        }
    }

    /// Parses the form of an authorized request.
    ///
    /// The body is read even if the request is refused.
    private nonisolated func write(
        _ request: HTTPRequest,
        _ answer: (MultipartForm) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        let body = try await request.bodyData
        guard await allows(request) else { return try Self.refusal(.unauthorized, "writing requires a token") }
        guard let form = MultipartForm(body, contentType: request.headers[.contentType] ?? "") else {
            return try Self.refusal(.badRequest, "the body is not a multipart form")
        }
        return try await answer(form)
    }

    private func allows(_ request: HTTPRequest) -> Bool {
        guard let field = request.headers[.authorization], field.hasPrefix("Bearer ") else { return false }
        return tokens.contains(String(field.dropFirst("Bearer ".count)))
    }
}

extension JournalServer {
    private func signup(_ body: Data) throws -> HTTPResponse {
        let account = try JSONDecoder().decode(Account.self, from: body)
        guard accounts[account.email] == nil else {
            return try Self.refusal(.conflict, "\(account.email) already has an account")
        }
        accounts[account.email] = account
        return .empty(.created)
    }

    private func login(_ authorization: String?) throws -> HTTPResponse {
        let pair = authorization.flatMap { $0.firstMatch(of: /^Basic (.+)$/) }.flatMap {
            Data(base64Encoded: String($0.1))
        }
        let words = String(decoding: pair ?? Data(), as: UTF8.self).split(separator: ":", maxSplits: 1)
        guard words.count == 2, let account = accounts[String(words[0])], account.password == words[1] else {
            return try Self.refusal(.unauthorized, "the email or the password is wrong")
        }
        let token = UUID().uuidString
        tokens.insert(token)
        return try .json(["name": account.name, "token": token])
    }

    private func list(_ query: [HTTPRequest.QueryItem]) throws -> HTTPResponse {
        guard let offset = query["offset"].flatMap(UInt16.init), let limit = query["limit"].flatMap(UInt16.init) else {
            return try Self.refusal(.badRequest, "a list requires an offset and a limit")
        }
        return try .json(entries.dropFirst(Int(offset)).prefix(Int(limit)).map(\.post))
    }

    private func create(_ form: MultipartForm) throws -> HTTPResponse {
        let texts = form.parts.filter { $0.name == "text" && $0.fileName == nil }
        let files = form.parts.filter { ["images[]", "video"].contains($0.name) && $0.fileName != nil }
        guard texts.count == 1, files.count == form.parts.count - 1, files.count(where: { $0.name == "video" }) < 2
        else { return try Self.refusal(.badRequest, "a post has one text, any images, and at most one video") }
        lastID += 1
        let text = String(decoding: texts[0].content, as: UTF8.self)
        entries.append(Entry(post: Post(id: lastID, text: text, created: Date(), attachments: [])))
        for file in files { keep(file, in: entries.count - 1) }
        return try .json(entries[entries.count - 1].post, .created)
    }

    private func attach(_ form: MultipartForm, to id: String?) throws -> HTTPResponse {
        guard let index = index(of: id) else { return try Self.refusal(.notFound, "no such post") }
        guard form.parts.count == 1, form.parts[0].name == "image", form.parts[0].fileName != nil else {
            return try Self.refusal(.badRequest, "the form must contain exactly one image")
        }
        return try .json(keep(form.parts[0], in: index), .created)
    }

    private func file(_ name: String?, of id: String?) throws -> HTTPResponse {
        guard let index = index(of: id), let part = entries[index].files[name ?? ""] else {
            return try Self.refusal(.notFound, "no such file")
        }
        return .bytes(part.content, type: part.mimeType ?? "application/octet-stream")
    }

    private func delete(_ id: String?) throws -> HTTPResponse {
        guard let index = index(of: id) else { return try Self.refusal(.notFound, "no such post") }
        entries.remove(at: index)
        return .empty(.noContent)
    }

    private func index(of id: String?) -> Int? {
        entries.firstIndex { String($0.post.id) == id }
    }

    @discardableResult
    private func keep(_ part: MultipartForm.Part, in index: Int) -> Post.Attachment {
        let attachment = Post.Attachment(
            fileName: part.fileName ?? "",
            mimeType: part.mimeType ?? "none",
            byteCount: part.content.count
        )
        entries[index].files[attachment.fileName] = part
        entries[index].post.attachments.append(attachment)
        return attachment
    }

    private static func refusal(_ statusCode: HTTPStatusCode, _ message: String) throws -> HTTPResponse {
        try .json(["message": message], statusCode)
    }
}
