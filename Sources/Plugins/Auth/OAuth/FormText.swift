import Foundation

/// Texts of `application/x-www-form-urlencoded`.
enum FormText {
    private static let plain = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )

    /// Percent-encodes all but the unreserved characters of RFC 3986.
    static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }

    static func text(of items: [(name: String, value: String)]) -> String {
        items.map { encoded($0.name) + "=" + encoded($0.value) }.joined(separator: "&")
    }

    /// Returns the items of a query, decoded.
    static func items(of query: String) -> [(name: String, value: String)] {
        query.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let texts = parts.map { part in
                let text = part.replacingOccurrences(of: "+", with: " ")
                return text.removingPercentEncoding ?? text
            }
            return (texts[0], texts.count > 1 ? texts[1] : "")
        }
    }
}
