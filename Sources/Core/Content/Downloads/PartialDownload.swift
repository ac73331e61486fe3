import Foundation
import HTTPTypes

/// An unfinished download: its file, and next to it a record of the resource that the file is a part of.
struct PartialDownload: Sendable {
    /// The resource and the version that the bytes belong to.
    struct Record: Codable, Equatable, Sendable {
        /// A hash of the URL, so that no secret in a query is stored.
        var resource: String
        /// A strong entity tag, or an equally strong modification date.
        var validator: String
        /// The length of the complete resource.
        var byteCount: Int
    }

    /// What a call may resume.
    struct Resumption: Sendable {
        /// The resource of the request before plugins change it, because a signature in the query may differ in each
        /// call.
        let resource: String
        /// Whether an exchange of this call holds the file.
        var isTaken = false
    }

    let file: URL
    let lane: FileLane

    private var recordFile: URL { file.appendingPathExtension("resume") }

    /// Reads the record of a resource; returns `nil` if the record is missing or unreadable.
    func record(of resource: String) -> Record? {
        guard let data = try? Data(contentsOf: recordFile), data.count < 4096,
            let record = try? JSONDecoder().decode(Record.self, from: data), record.resource == resource
        else { return nil }
        return record
    }

    /// Asks for bytes without a content coding; returns `nil` if the request cannot be resumed.
    func prepare(_ request: inout PipelineRequest) -> Resumption? {
        guard request.method == .get, !request.headers.contains(.range) else { return nil }
        if !request.headers.contains(.acceptEncoding) { request.headers[.acceptEncoding] = "identity" }
        return Resumption(resource: Self.resource(of: request))
    }

    /// Requests the missing bytes if a part of the resource is stored, unless a plugin has set a Range field.
    func ask(in request: inout PipelineRequest, for resource: String) async {
        guard request.method == .get, !request.headers.contains(.range),
            let (record, byteCount) = try? await lane.run({ kept(of: resource) }), byteCount > 0,
            byteCount < record.byteCount
        else { return }
        request.headers[.range] = "bytes=\(byteCount)-"
        request.headers[.ifRange] = record.validator
    }

    private func kept(of resource: String) -> (record: Record, byteCount: Int)? {
        guard let record = record(of: resource), let byteCount = PipelineBody.file(file).byteCount else { return nil }
        return (record, byteCount)
    }

    /// Returns the offset that ``ask(in:for:)`` requested; `nil` if the request does not resume a download.
    static func offset(askedForIn request: PipelineRequest) -> Int? {
        guard request.headers.contains(.ifRange), let range = request.headers[.range], range.hasPrefix("bytes="),
            range.hasSuffix("-")
        else { return nil }
        return ContentRange.number(range.dropFirst(6).dropLast())
    }

    /// Whether a 206 response is exactly the rest of the resource in the record.
    static func isRest(_ response: PipelineResponse, from offset: Int, of record: Record) -> Bool {
        guard let range = ContentRange(response.headers[.contentRange] ?? ""), range.first == offset,
            range.whole == record.byteCount, range.last == record.byteCount - 1, isAsStored(response)
        else { return false }
        if let length = response.body.byteCount, length != range.last - range.first + 1 { return false }
        guard !record.validator.hasPrefix("\"") else { return response.headers[.eTag] == record.validator }
        // A 206 has the entity tag of the 200 (RFC 9110 §15.3.7); it may omit Last-Modified.
        guard let date = response.headers[.lastModified] else { return response.headers[.eTag] == nil }
        return date == record.validator
    }

    /// Whether the body has no content coding, so that ranges count its bytes.
    static func isAsStored(_ response: PipelineResponse) -> Bool {
        (response.headers[.contentEncoding] ?? "identity").lowercased() == "identity"
    }

    /// Returns the validator for If-Range: a strong entity tag, or a modification date at least one second before Date.
    ///
    /// Source: RFC 9110 §8.8.2.2 and §13.1.5, https://www.rfc-editor.org/rfc/rfc9110.html#section-8.8.2.2
    static func validator(of response: PipelineResponse) -> String? {
        if let tag = response.headers[.eTag] {
            return tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count > 2 ? tag : nil
        }
        guard let text = response.headers[.lastModified], let modified = HTTPDate(fixdate: text),
            let date = response.headers[.date].flatMap(HTTPDate.init(fixdate:)),
            modified.secondsSince1970 < date.secondsSince1970
        else { return nil }
        return text
    }

    func write(_ record: Record) throws {
        let data = try JSONEncoder().encode(record)
        let writer = try FileWriter.temporary(exactlyIn: file.deletingLastPathComponent(), lane, for: recordFile)
        try writer.append(data)
        _ = try writer.move(to: recordFile, replaces: true, isPrivate: true)
    }

    /// Removes the file and its record, unless a download is using them.
    func remove() {
        FileWriter.removePartial(file, lane, with: removeRecord)
    }

    func removeRecord() {
        try? FileManager.default.removeItem(at: recordFile)
    }

    /// Returns a name for the URL of a request that does not reveal the URL.
    static func resource(of request: PipelineRequest) -> String {
        var hash = FNV1a()
        for part in [request.head.scheme, request.head.authority, request.head.path] {
            hash.add((part ?? "").utf8)
            hash.add([0xff])
        }
        return String(hash.value, radix: 16)
    }
}

/// The value of a Content-Range field, `bytes first-last/whole`.
///
/// Source: RFC 9110 §14.4, https://www.rfc-editor.org/rfc/rfc9110.html#section-14.4
struct ContentRange: Equatable {
    let first: Int
    let last: Int
    let whole: Int?

    init?(_ text: String) {
        guard let match = text.wholeMatch(of: /(?i:bytes) ([0-9]+)-([0-9]+)\/([0-9]+|\*)/), let first = Int(match.1),
            let last = Int(match.2), first <= last
        else { return nil }
        let whole = Int(match.3)
        guard match.3 == "*" || (whole ?? 0) > last else { return nil }
        (self.first, self.last, self.whole) = (first, last, whole)
    }

    /// Parses a number that consists only of digits.
    static func number(_ text: Substring) -> Int? {
        text.utf8.isDigits ? Int(text) : nil
    }
}
