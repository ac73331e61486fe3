import Foundation

/// A JSON object that an authorization server sent.
///
/// Servers differ from the standards in members that only help the client. Such a member counts as absent.
struct OAuthObject: Decodable {
    private struct Member: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    private let members: KeyedDecodingContainer<Member>

    init(from decoder: any Decoder) throws { members = try decoder.container(keyedBy: Member.self) }

    /// Returns a text that is not empty.
    func text(_ name: String) -> String? {
        let text = try? members.decode(String.self, forKey: Member(stringValue: name))
        return text?.isEmpty == true ? nil : text
    }

    /// Returns a finite number, which some servers send as text.
    func seconds(_ name: String) -> Double? {
        let number =
            (try? members.decode(Double.self, forKey: Member(stringValue: name))) ?? text(name).flatMap(Double.init)
        return number.flatMap { $0.isFinite ? $0 : nil }
    }

    /// Returns the address of a page for a browser.
    func page(_ name: String) -> URL? {
        guard let url = text(name).flatMap({ URL(string: $0) }), url.host() != nil,
            ["https", "http"].contains(url.scheme?.lowercased())
        else { return nil }
        return url
    }
}
