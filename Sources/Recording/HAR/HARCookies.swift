import Foundation
import HTTPTypes
import PipelineCore

/// The cookies of header fields, as HAR lists them.
enum HARCookies {
    static func json(ofRequest headers: HTTPFields) -> JSONNode {
        let pairs = headers[values: .cookie].flatMap { $0.split(separator: ";") }.map { pair($0) }
        return .array(
            pairs.filter { !$0.isEmpty }.map { .object(["name": .string($0.name), "value": .string($0.value)]) }
        )
    }

    /// Returns one cookie for each Set-Cookie field.
    ///
    /// A Max-Age is converted to a date only if the start is known.
    static func json(ofResponse headers: HTTPFields, start: Date?) -> JSONNode {
        .array(headers[values: .setCookie].map { cookie($0, start: start) })
    }

    private static func cookie(_ field: String, start: Date?) -> JSONNode {
        let parts = field.split(separator: ";", omittingEmptySubsequences: false).map { pair($0) }
        var attributes: [String: String] = [:]
        for part in parts.dropFirst() { attributes[part.name.lowercased()] = part.value }
        let cookie = parts.first ?? Pair(name: "", value: "")
        return .object([
            "name": .string(cookie.name),
            "value": .string(cookie.value),
            "path": attributes["path"].map { .string($0) },
            "domain": attributes["domain"].map { .string($0) },
            "expires": expiry(attributes, start: start).map { .string(HARDate.text($0)) },
            "httpOnly": .bool(attributes["httponly"] != nil),
            "secure": .bool(attributes["secure"] != nil),
            "sameSite": attributes["samesite"].map { .string($0) },
        ])
    }

    /// Max-Age takes precedence over Expires (RFC 6265 §5.3).
    private static func expiry(_ attributes: [String: String], start: Date?) -> Date? {
        if let age = attributes["max-age"].flatMap({ Int($0) }) {
            return start.map { $0.addingTimeInterval(Double(min(max(age, 0), 1 << 32))) }
        }
        guard let text = attributes["expires"] else { return nil }
        return HTTPDate(text, now: start ?? Date(timeIntervalSince1970: 0))?.date
    }

    private struct Pair {
        var name: String
        var value: String

        var isEmpty: Bool { name.isEmpty && value.isEmpty }
    }

    private static func pair(_ text: Substring) -> Pair {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        return Pair(name: parts.first ?? "", value: parts.count > 1 ? parts[1] : "")
    }
}
