import Foundation

/// An entry of a HAR file, including everything that its writer has added.
///
/// Deviations of real writers are accepted: everything except the request's method and URL and the response's status
/// may be missing or `null`.
///
/// Source: HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/
package struct HAREntry: Sendable, Equatable {
    /// The entry as it is in the file.
    package var json: JSONNode

    package init(json: JSONNode) { self.json = json }

    var method: String? { json["request"]?["method"]?.string }

    var url: String? { json["request"]?["url"]?.string }

    var startedDate: Date? { json["startedDateTime"]?.string.flatMap { HARDate.date($0) } }

    /// Whether the exchange failed, before its response or within it.
    var isFailure: Bool { failure != nil }

    /// The failure, `nil` if the exchange succeeded.
    ///
    /// It is indicated by a status of 0 or -1, or by an error text of a browser or proxy. An error text with a status
    /// above 0 means that the response was cut off, unless it has no content and the text names no broken connection:
    /// Chrome writes `net::ERR_ABORTED` where the page did not use a response.
    var failure: RecordedExchange.Failure? {
        let response = json["response"]
        let texts = [response?["_error"], response?["_failureText"], json["_error"], json["_failureText"]]
        let text = texts.lazy.compactMap { $0?.string }.first { !$0.isEmpty }
        let status = response?["status"]?.int
        guard text != nil || status.map({ $0 <= 0 }) == true else { return nil }
        let kind = [response?["_errorKind"], json["_errorKind"]].lazy.compactMap { $0?.string }.first { !$0.isEmpty }
        let isCutOff = (status ?? 0) > 0
        if isCutOff, kind == nil, !hasText, let text, Self.code(of: text) == nil || text.contains("ERR_ABORTED") {
            return nil
        }
        return RecordedExchange.Failure(
            code: kind ?? text.flatMap(Self.code) ?? (isCutOff ? "connectionLost" : "transport"),
            text: text ?? ""
        )
    }

    private var hasText: Bool {
        let content = json["response"]?["content"]
        return content?["text"]?.string?.isEmpty == false || content?["_file"] != nil
    }

    /// The size of the response body if the file does not contain the body, otherwise `nil`.
    ///
    /// Responses without a body may have the size of another one. The body of a redirect is not needed.
    var missingByteCount: Int? {
        let content = json["response"]?["content"]
        guard let size = content?["size"]?.int, size > 0, content?["text"] == nil, content?["_file"] == nil,
            let status = json["response"]?["status"]?.int, status >= 200, !(300..<400).contains(status),
            ![204, 205].contains(status), method?.uppercased() != "HEAD", failure == nil
        else { return nil }
        return size
    }

    /// Returns the error code for a text of a browser or of mitmproxy.
    private static func code(of text: String) -> String? {
        let codes: KeyValuePairs = [
            "CONNECTION_REFUSED": "connect.refused", "CONNECT CALL FAILED": "connect.refused",
            "ADDRESS_UNREACHABLE": "connect.unreachable", "NAME_NOT_RESOLVED": "dns", "UNKNOWN_HOST": "dns",
            "INTERNET_DISCONNECTED": "offline", "TIMED_OUT": "timeout", "TIMEOUT": "timeout",
            "CERT_": "tls.certificate",
            "SSL": "tls", "TLS": "tls", "INCOMPLETE_CHUNKED": "truncated", "CONTENT_LENGTH_MISMATCH": "truncated",
            "CONNECTION_RESET": "connectionLost", "CONNECTION_CLOSED": "connectionLost",
            "EMPTY_RESPONSE": "connectionLost", "DISCONNECTED": "connectionLost", "ABORTED": "connectionLost",
        ]
        let text = text.uppercased()
        return codes.first { text.contains($0.key) }?.value
    }
}
