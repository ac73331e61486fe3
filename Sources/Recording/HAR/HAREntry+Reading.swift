import Foundation
import HTTPTypes
import PipelineCore

extension HAREntry {
    /// Converts the entry to an exchange.
    ///
    /// - Parameter directory: the folder of the HAR file, to which the paths of side files are relative; `nil` if side
    ///   files must not be read.
    /// - Returns: the exchange, with bodies read from side files.
    /// - Throws: `.recording(.corrupt)` if method, URL or status is missing, if a body cannot be read, or if a message
    ///   has more than 1,000 header fields.
    func exchange(sideFiles directory: URL?) throws -> RecordedExchange {
        guard let method, !method.isEmpty else {
            throw PipelineError.corrupt("request.method is \(self.method == nil ? "missing" : "empty")")
        }
        guard let url, !url.isEmpty else {
            throw PipelineError.corrupt("request.url is \(self.url == nil ? "missing" : "empty")")
        }
        let requestHeaders = try Self.checkedFields(json["request"]?["headers"], "request.headers")
        let bodyType = bodyType(requestHeaders)
        let parts = multipartParameters(bodyType ?? requestHeaders[.contentType])
        let request = RecordedExchange.Request(
            method: method,
            url: url,
            headers: requestHeaders,
            body: try parts ?? requestBody(requestHeaders, directory),
            bodyType: bodyType,
            isFromParameters: parts != nil
        )
        let failure = failure
        let (head, total) = delays
        return RecordedExchange(
            request: request,
            response: try response(isFailure: failure != nil, directory),
            failure: failure,
            start: startedDate,
            headDelay: head,
            duration: total,
            httpVersion: [json["response"], json["request"]].lazy.compactMap { $0?["httpVersion"]?.string }
                .first { !$0.isEmpty } ?? "",
            forwardReason: json["cache"]?["comment"]?.string.flatMap { text in
                text.hasPrefix("fwd=") ? String(text.dropFirst(4)) : nil
            }
        )
    }

    private func response(isFailure: Bool, _ directory: URL?) throws -> RecordedExchange.Response? {
        let response = json["response"]
        let status = response?["status"]?.int
        guard let status, status > 0 else {
            if isFailure { return nil }
            throw PipelineError.corrupt("response.status is missing")
        }
        guard (100...999).contains(status) else { throw PipelineError.corrupt("response.status is \(status)") }
        let headers = try Self.checkedFields(response?["headers"], "response.headers")
        let (body, isCoded) = try responseBody(headers, directory)
        return RecordedExchange.Response(
            status: status,
            reasonPhrase: response?["statusText"]?.string ?? "",
            headers: headers,
            body: body,
            isCoded: isCoded,
            wireByteCount: response?["bodySize"]?.int.flatMap { $0 >= 0 ? $0 : nil },
            chunks: Self.chunks(response?["_chunks"], of: body.count),
            trailers: try Self.checkedFields(response?["_trailers"], "response._trailers")
        )
    }

    /// Returns no chunks if their lengths do not add up to the body.
    private static func chunks(_ node: JSONNode?, of byteCount: Int) -> [RecordedExchange.Chunk] {
        var rest = byteCount
        var chunks: [RecordedExchange.Chunk] = []
        for element in node?.elements ?? [] {
            guard let size = element["size"]?.int, (0...rest).contains(size) else { return [] }
            rest -= size
            chunks.append(.init(byteCount: size, delay: duration(element["time"]?.double ?? 0)))
        }
        return rest == 0 ? chunks : []
    }

    // MARK: Times

    private var delays: (head: Duration, total: Duration) {
        let timings = json["timings"]
        func time(_ name: String) -> Double { max(timings?[name]?.double ?? 0, 0) }
        let receive = time("receive")
        // `connect` includes TLS. Where a writer counts TLS separately, `time` includes both.
        let sum = ["blocked", "dns", "connect", "send", "wait"].reduce(receive) { $0 + time($1) }
        let total = json["time"]?.double.flatMap { $0 >= 0 ? $0 : nil } ?? sum
        return (Self.duration(total - receive), Self.duration(total))
    }

    /// Rounds to the microsecond and limits the duration to 30 years.
    private static func duration(_ milliseconds: Double) -> Duration {
        .microseconds(Int((min(max(milliseconds, 0), 1e12) * 1000).rounded()))
    }

    // MARK: Header fields

    /// Reads header fields: objects, pairs in arrays, several values in an array, and values joined with line breaks.
    ///
    /// Skips the pseudo fields of HTTP/2, and stops when there are more than `maximumFieldCount`.
    static func fields(_ node: JSONNode?) -> HTTPFields {
        var fields = HTTPFields()
        for element in node?.elements ?? [] {
            let isPair = element.elements.count == 2
            guard let text = isPair ? element.elements[0].string : element["name"]?.string,
                let name = HTTPField.Name(text)
            else { continue }
            let value = isPair ? element.elements[1] : element["value"] ?? .string("")
            let isLatin1 = element["_encoding"]?.string == "latin1"
            for value in value.elements.isEmpty ? [value] : value.elements {
                for line in lines(of: value) {
                    // The type of the fields stops the process beyond 65,535.
                    guard fields.count <= maximumFieldCount else { return fields }
                    guard isLatin1, let bytes = String(line)?.data(using: .isoLatin1) else {
                        fields.append(HTTPField(name: name, value: line))
                        continue
                    }
                    fields.append(HTTPField(name: name, value: bytes))
                }
            }
        }
        return fields
    }

    private static let maximumFieldCount = 1_000

    private static func checkedFields(_ node: JSONNode?, _ place: String) throws -> HTTPFields {
        let fields = fields(node)
        guard fields.count <= maximumFieldCount else {
            throw PipelineError.corrupt("\(place) has more than \(maximumFieldCount) fields")
        }
        return fields
    }

    private static func lines(of value: JSONNode) -> [Substring.UTF8View] {
        switch value {
        case .string(let text): text.utf8.split(separator: 0x0a, omittingEmptySubsequences: false)
        case .number(let text): [text[...].utf8]
        case .bool(let isTrue): [(isTrue ? "true" : "false")[...].utf8]
        default: []
        }
    }
}
