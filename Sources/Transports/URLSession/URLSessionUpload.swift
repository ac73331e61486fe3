import Foundation
import HTTPTypes
import Pipeline

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request in Foundation's terms.
struct URLSessionUpload: Sendable {
    private let request: URLRequest
    private let body: Data?
    private let file: URL?
    /// What the file is removed with.
    private let spool: URLSessionSpool?

    /// Reads a stream first: into memory when it is short, else into a temporary file, up to the limit.
    init(_ request: PipelineRequest, limit: Int) async throws {
        self.request = try Self.makeURLRequest(request)
        if request.body.isNone || request.body.byteCount == 0 {
            (body, file, spool) = (nil, nil, nil)
        } else if let url = request.body.fileURL {
            (body, file, spool) = (nil, url, nil)
        } else if let bytes = request.body.bytes {
            (body, file, spool) = (bytes, nil, nil)
        } else {
            switch try await URLSessionSpool.read(request.body, limit: limit) {
            case .bytes(let bytes): (body, file, spool) = (bytes.isEmpty ? nil : bytes, nil, nil)
            case .file(let spool): (body, file, self.spool) = (nil, spool.url, spool)
            }
        }
        guard request.method == .get || request.method == .head, body != nil || file != nil else { return }
        throw PipelineError(.invalidRequest(.body), "Foundation sends no body with \(request.method)")
    }

    /// A task that has not begun.
    ///
    /// Bodies are uploads: to a data task with a body Foundation adds a Content-Type that nobody asked for.
    func makeTask(in session: URLSession) -> URLSessionTask {
        if let file { return session.uploadTask(with: request, fromFile: file) }
        if let body { return session.uploadTask(with: request, from: body) }
        return session.dataTask(with: request)
    }

    private static func makeURLRequest(_ request: PipelineRequest) throws -> URLRequest {
        let head = request.head
        let text = "\(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "")"
        guard head.path?.utf8.first == UInt8(ascii: "/"), let url = URL(string: text), url.absoluteString == text else {
            throw PipelineError(.invalidRequest(.path), "Foundation cannot send the path as it is")
        }
        var converted = URLRequest(url: url)
        converted.httpMethod = head.method.rawValue
        for field in head.headerFields where field.name != .contentLength && field.name != Self.host {
            converted.addValue(field.value, forHTTPHeaderField: field.name.rawName)
        }
        return converted
    }

    private static let host = HTTPField.Name("Host")
}
