import Foundation
import HTTPTypes
import PipelineCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request as Foundation's type.
struct URLSessionUpload: Sendable {
    private let request: URLRequest
    /// Removes the temporary file when it is released.
    private let spool: FileWriter?
    #if canImport(FoundationNetworking)
    private let source: URLSessionBodySource?
    #else
    private let body: Data?
    private let file: URL?
    #endif

    /// Reads a streamed body first: into memory if it is short, otherwise into a temporary file, up to the limit.
    init(_ request: PipelineRequest, limit: Int) async throws {
        let converted = try Self.makeURLRequest(request)
        let body: Data?
        let file: URL?
        let byteCount = request.body.byteCount
        let isStream = request.body.bytes == nil && request.body.fileURL == nil
        if request.body.isAbsent || byteCount == 0 && !isStream {
            (body, file, spool) = (nil, nil, nil)
        } else if let url = request.body.fileURL, byteCount != nil {
            (body, file, spool) = (nil, url, nil)
        } else if let bytes = request.body.bytes {
            (body, file, spool) = (bytes, nil, nil)
        } else {
            let (bytes, spool) = try await Self.readAll(request.body, limit: limit)
            (body, file, self.spool) = (bytes.isEmpty ? nil : bytes, spool?.url, spool)
        }
        if body != nil || file != nil, request.method == .get || request.method == .head {
            throw PipelineError(.invalidRequest(.body), "Foundation sends no body with \(request.method)")
        }
        #if canImport(FoundationNetworking)
        if let file {
            let lane = FileLane()
            source = try await lane.run { try URLSessionBodySource(file, lane) }
        } else {
            source = body.map { URLSessionBodySource($0) }
        }
        self.request = source.map { Self.announcing($0, in: converted) } ?? converted
        #else
        (self.body, self.file, self.request) = (body, file, converted)
        #endif
    }

    private static let memoryByteCount = 1 << 20

    /// Reads a streamed body to its end, because Foundation cannot send it otherwise: a short body into memory, a
    /// longer one into a temporary file, which is removed when the last reference to it is released.
    private static func readAll(_ body: PipelineBody, limit: Int) async throws -> (bytes: Data, file: FileWriter?) {
        let lane = FileLane()
        var bytes = Data()
        var file: FileWriter?
        var byteCount = 0
        for try await chunk in body.chunks() {
            guard chunk.count <= limit - byteCount else {
                throw PipelineError(.limit(.bodyBytes), "the body is larger than the \(limit) bytes allowed")
            }
            byteCount += chunk.count
            if let file {
                try await lane.run { try file.append(chunk) }
                continue
            }
            bytes.append(chunk)
            guard byteCount > memoryByteCount else { continue }
            file = try await lane.run { [bytes] in
                let file = try FileWriter.temporary(in: nil, lane)
                try file.append(bytes)
                return file
            }
            bytes = Data()
        }
        // A stream may end early because its reader is cancelled; the bytes read by then are not the whole body.
        try Task.checkCancellation()
        // A transport that streams request bodies would have announced this length.
        if let announced = body.byteCount, announced != byteCount {
            throw PipelineError(.bodyChanged, "the body has \(byteCount) bytes, \(announced) were announced")
        }
        return (bytes, file)
    }

    private static func makeURLRequest(_ request: PipelineRequest) throws -> URLRequest {
        let head = request.head
        let text = "\(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "")"
        guard head.path?.utf8.first == UInt8(ascii: "/"), let url = URL(string: text), url.absoluteString == text else {
            throw PipelineError(.invalidRequest(.path), "Foundation cannot send the path as it is")
        }
        var converted = URLRequest(url: url)
        if head.method != .get { converted.httpMethod = head.method.rawValue }
        guard converted.httpMethod == head.method.rawValue else {
            let reason = "Foundation cannot send the method as it is; use capital letters"
            throw PipelineError(.invalidRequest(.method), reason)
        }
        // On Linux, adding a field copies all fields before it and checks for line breaks, which an `HTTPField` cannot
        // contain.
        converted.allHTTPHeaderFields = makeFields(head.headerFields)
        return converted
    }

    /// Joins the values of fields that share a name by a comma, those of Cookie by a semicolon, and keeps the first
    /// spelling of the name.
    private static func makeFields(_ fields: HTTPFields) -> [String: String] {
        var joined: [HTTPField.Name: String] = [:]
        joined.reserveCapacity(fields.count)
        for field in fields where field.name != .contentLength && field.name != host {
            let separator = field.name == .cookie ? "; " : ","
            joined[field.name] = joined[field.name].map { $0 + separator + field.value } ?? field.value
        }
        return Dictionary(uniqueKeysWithValues: joined.lazy.map { ($0.key.rawName, $0.value) })
    }

    private static let host = HTTPField.Name("Host")
}

#if canImport(FoundationNetworking)
extension URLSessionUpload {
    /// Returns a task that has not started.
    func makeTask(in session: URLSession) -> URLSessionTask {
        guard let stream = makeStream() else { return session.dataTask(with: request) }
        var request = request
        request.httpBodyStream = stream
        return session.dataTask(with: request)
    }

    /// Returns the body from its beginning, or `nil` if there is none.
    func makeStream() -> InputStream? { source?.makeStream() }

    /// The reason why a file could not be read to its announced end; `nil` if it could.
    var failure: PipelineError? { source?.failure }

    /// The length of the body; `nil` if Foundation reports it.
    var byteCount: Int? { source?.byteCount }

    /// Makes Foundation send a stream as it sends bytes: with a length and without an unrequested Content-Type.
    ///
    /// libcurl does not send a field whose value is blank, and adds none of the same name.
    private static func announcing(_ source: URLSessionBodySource, in request: URLRequest) -> URLRequest {
        var request = request
        request.setValue("\(source.byteCount)", forHTTPHeaderField: "Content-Length")
        request.setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
        if request.value(forHTTPHeaderField: "Content-Type") == nil {
            request.setValue(" ", forHTTPHeaderField: "Content-Type")
        }
        return request
    }
}
#else
extension URLSessionUpload {
    /// Returns a task that has not started.
    ///
    /// Bodies are uploads, because Foundation adds an unrequested Content-Type to a data task with a body.
    func makeTask(in session: URLSession) -> URLSessionTask {
        if let file { return session.uploadTask(with: request, fromFile: file) }
        if let body { return session.uploadTask(with: request, from: body) }
        return session.dataTask(with: request)
    }

    /// Always `nil`: Foundation itself fails if a file is shorter than announced or cannot be read.
    var failure: PipelineError? { nil }

    /// The length of the body; `nil` because Foundation reports it.
    var byteCount: Int? { nil }
}
#endif
