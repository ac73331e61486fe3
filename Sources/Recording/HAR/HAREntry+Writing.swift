import Foundation
import HTTPTypes
import PipelineCore

extension HAREntry {
    /// Converts an exchange to an entry, strictly as HAR 1.2 requires.
    ///
    /// Custom members:
    ///
    /// - `_pipeline`: the call, its attempt and hop, and the spans of its timeline so far, if it records one.
    /// - `_error`, a text, and `_errorKind`, an error code: in the response, if the exchange failed. If it failed
    ///   within the body, the response also has what had arrived.
    /// - `_chunks`: in the response, `[{"size": bytes, "time": milliseconds from the header fields on}]`.
    /// - `_trailers`: in the response, header fields.
    /// - `_coded`: in the content, true for a body in its content coding.
    /// - `_encoding`: "base64" in the post data; "latin1" in a header field whose value is not UTF-8.
    init(_ exchange: RecordedExchange) {
        let head = Self.microseconds(exchange.headDelay)
        let total = max(Self.microseconds(exchange.duration), head)
        json = .object([
            "startedDateTime": .string(HARDate.text(exchange.start ?? Date(timeIntervalSince1970: 0))),
            "time": Self.milliseconds(total),
            "request": Self.json(exchange.request, exchange.httpVersion),
            "response": Self.json(exchange.response, exchange),
            "cache": .object(["comment": exchange.forwardReason.map { .string("fwd=" + $0) }]),
            "timings": exchange.timings.json(head: .microseconds(head), total: .microseconds(total)),
            "serverIPAddress": exchange.connection?.peerAddress.map(JSONNode.string),
            "connection": exchange.connection?.localPort.map { .string("\($0)") },
            "_pipeline": exchange.call,
        ])
    }

    private static func json(_ request: RecordedExchange.Request, _ httpVersion: String) -> JSONNode {
        let url = String(request.url.prefix { $0 != "#" })
        return .object([
            "method": .string(request.method),
            "url": .string(url),
            "httpVersion": .string(httpVersion),
            "cookies": HARCookies.json(ofRequest: request.headers),
            "headers": json(request.headers),
            "queryString": queryString(of: url),
            "postData": request.body.map { postData($0, type: request.headers[.contentType]) },
            "headersSize": .integer(-1),
            "bodySize": .integer(request.body?.count ?? 0),
        ])
    }

    private static func postData(_ body: Data, type: String?) -> JSONNode {
        let text = String(validating: body, as: UTF8.self)
        return .object([
            "mimeType": .string(type ?? ""),
            "text": .string(text ?? body.base64EncodedString()),
            "encoding": text == nil ? .string("base64") : nil,
            "_encoding": text == nil ? .string("base64") : nil,
        ])
    }

    private static func json(_ response: RecordedExchange.Response?, _ exchange: RecordedExchange) -> JSONNode {
        let headers = response?.headers ?? [:]
        let failure = exchange.failure ?? (response == nil ? .init(code: "transport", text: "") : nil)
        // A 304 has no body; -1 means unknown.
        let bodySize = response?.wireByteCount ?? (response?.status == 304 ? 0 : -1)
        let chunks = response?.chunks ?? []
        let trailers = response?.trailers ?? [:]
        return .object([
            "status": .integer(response?.status ?? 0),
            "statusText": .string(response?.reasonPhrase ?? ""),
            "httpVersion": .string(response == nil ? "" : exchange.httpVersion),
            "cookies": HARCookies.json(ofResponse: headers, start: exchange.start),
            "headers": json(headers),
            "content": content(of: response),
            "redirectURL": .string(headers[.location] ?? ""),
            "headersSize": .integer(-1),
            "bodySize": .integer(bodySize),
            "_chunks": chunks.isEmpty ? nil : .array(chunks.map(json)),
            "_trailers": trailers.isEmpty ? nil : json(trailers),
            "_error": failure.map { .string($0.text.isEmpty ? $0.code : $0.text) },
            "_errorKind": failure.map { .string($0.code) },
        ])
    }

    private static func content(of response: RecordedExchange.Response?) -> JSONNode {
        let body = response?.body ?? Data()
        let type = response?.headers[.contentType]
        let charset = MediaType(type ?? "").charset
        let isText = response?.isCoded != true && [nil, "utf-8", "utf8"].contains(charset)
        let text = isText ? String(validating: body, as: UTF8.self) : nil
        let saved = response?.wireByteCount.map { body.count - $0 } ?? 0
        return .object([
            "size": .integer(body.count),
            "compression": saved == 0 ? nil : .integer(saved),
            "mimeType": .string(type ?? ""),
            "text": body.isEmpty ? nil : .string(text ?? body.base64EncodedString()),
            "encoding": body.isEmpty || text != nil ? nil : .string("base64"),
            "_coded": response?.isCoded == true ? .bool(true) : nil,
        ])
    }

    private static func json(_ chunk: RecordedExchange.Chunk) -> JSONNode {
        .object(["size": .integer(chunk.byteCount), "time": milliseconds(microseconds(chunk.delay))])
    }

    private static func json(_ fields: HTTPFields) -> JSONNode {
        .array(
            fields.map { field in
                let text = field.withUnsafeBytesOfValue { String(validating: $0, as: UTF8.self) }
                let latin1 = field.withUnsafeBytesOfValue {
                    String(String.UnicodeScalarView($0.map(Unicode.Scalar.init)))
                }
                return .object([
                    "name": .string(field.name.rawName),
                    "value": .string(text ?? latin1),
                    "_encoding": text == nil ? .string("latin1") : nil,
                ])
            }
        )
    }

    /// Returns the names and values of the query, decoded as in a form.
    private static func queryString(of url: String) -> JSONNode {
        guard let mark = url.firstIndex(of: "?") else { return .array([]) }
        return .array(
            url[url.index(after: mark)...].split(separator: "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return .object(["name": unescaped(parts[0]), "value": unescaped(parts.count > 1 ? parts[1] : "")])
            }
        )
    }

    private static func unescaped(_ text: Substring) -> JSONNode {
        let spaced = String(text.map { $0 == "+" ? " " : $0 })
        return .string(spaced.removingPercentEncoding ?? String(text))
    }

    // MARK: Times

    /// Converts a duration, limited to the range from 0 to 30 years.
    private static func microseconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(1_000_000_000)).components
        return Int(seconds) * 1_000_000 + Int((attoseconds + 500_000_000_000) / 1_000_000_000_000)
    }

    private static func milliseconds(_ microseconds: Int) -> JSONNode {
        .milliseconds(.microseconds(microseconds))
    }
}
