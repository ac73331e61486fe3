import Foundation

/// The parts of a HAR file that cookies are read from; the decoder skips all others, such as bodies.
///
/// Source: HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/
enum HARCookies {
    struct File: Decodable {
        struct Log: Decodable { var entries: [Lenient<Entry>] }

        var log: Log

        /// The responses in the order of their requests.
        func responses(at now: Date) -> [Response] {
            log.entries.compactMap { $0.value?.response(at: now) }.enumerated()
                .sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }
                .map(\.element)
        }
    }

    /// What a response sets, and when it arrived.
    struct Response {
        let request: CookieJar.Request
        let start: Date
        let date: Date
        let fields: [SetCookieField]
    }

    struct Entry: Decodable {
        struct Request: Decodable { var url: String }

        struct Response: Decodable {
            var headers: Lenient<[Lenient<Header>]>?
            var cookies: Lenient<[Lenient<HARCookie>]>?
        }

        var startedDateTime: Lenient<String>?
        var time: Lenient<Double>?
        var request: Request
        var response: Response

        /// The most header fields or cookies of a response that is not malformed.
        private static let maximumCount = 1_000

        func response(at now: Date) -> HARCookies.Response? {
            guard let request = CookieJar.Request(url: request.url) else { return nil }
            let start = startedDateTime?.value.flatMap { HARCookie.date($0) } ?? now
            // At most a year, because a time may be any number.
            let delay = min(max(time?.value ?? 0, 0) / 1000, 31_536_000)
            return .init(request: request, start: start, date: start.addingTimeInterval(delay), fields: fields)
        }

        private var fields: [SetCookieField] {
            let headers = (response.headers?.value ?? []).compactMap(\.value)
            let values = headers.filter { $0.name.lowercased() == "set-cookie" }.flatMap(\.values)
            let cookies = response.cookies?.value ?? []
            guard max(headers.count, values.count, cookies.count) <= Self.maximumCount else { return [] }
            let fields = values.compactMap { try? SetCookieField($0) }.filter { !$0.isRedacted }
            if !fields.isEmpty { return fields }
            return cookies.compactMap { $0.value?.field }.filter { !$0.isRedacted }
        }
    }

    /// A header field: an object, as Slack writes a pair in an array, with several values, as Polly.JS writes an array
    /// and Chrome joins them with line breaks.
    struct Header: Decodable {
        private enum CodingKeys: CodingKey { case name, value }

        let name: String
        let values: [String]

        init(from decoder: any Decoder) throws {
            let texts: [String]
            if let pair = try? [String](from: decoder), pair.count == 2 {
                name = pair[0]
                texts = [pair[1]]
            } else {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                name = try container.decode(String.self, forKey: .name)
                texts =
                    try (try? container.decode([String].self, forKey: .value))
                    ?? [container.decode(String.self, forKey: .value)]
            }
            values = texts.flatMap { $0.split(separator: "\n").map(String.init) }
        }
    }

    /// A value that is missing if it has another type, as in files of some writers.
    struct Lenient<Value: Decodable>: Decodable {
        var value: Value?

        init(_ value: Value) { self.value = value }

        init(from decoder: any Decoder) { value = try? Value(from: decoder) }
    }
}

extension HARCookies.Lenient: Encodable where Value: Encodable {
    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

extension SetCookieField {
    /// Whether a recorder has hidden the name or the value.
    fileprivate var isRedacted: Bool { [name, value].contains { $0.lowercased().contains("redacted") } }
}

extension CookieJar.Request {
    /// Describes a GET request for a URL; `nil` if it is not an absolute URL with a host.
    fileprivate init?(url: String) {
        guard let separator = url.firstRange(of: "://") else { return nil }
        let rest = url[separator.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let authority = rest[..<end].split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        self.init(
            scheme: String(url[..<separator.lowerBound]),
            authority: String(authority),
            path: String(rest[end...].prefix { $0 != "#" })
        )
    }
}
