import Foundation
import HTTPTypes
import PipelinePlugins

@testable import PipelineCaching

/// Messages for the tests of the cache rules, from short texts.
enum CacheSamples {
    /// The date from which all others count.
    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// Parses lines such as `Date: @-5`; `@` and a number is a date in seconds from ``now``.
    static func headers(_ text: String) -> HTTPFields {
        var headers = HTTPFields()
        for line in text.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])) else {
                continue
            }
            var value = String(line[line.index(after: colon)...].drop { $0 == " " })
            if value.hasPrefix("@"), let offset = Double(value.dropFirst()) {
                value = CacheDate.text(now + offset) ?? ""
            }
            headers.append(HTTPField(name: name, value: value))
        }
        return headers
    }

    static func request(_ text: String = "", _ method: String = "GET", path: String = "/a") -> HTTPRequest {
        HTTPRequest(
            method: HTTPRequest.Method(method) ?? .get,
            scheme: "https",
            authority: "a.test",
            path: path,
            headerFields: headers(text)
        )
    }

    static func response(_ status: Int, _ text: String = "") -> HTTPResponse {
        HTTPResponse(status: .init(code: status), headerFields: headers(text))
    }

    /// Makes a stored response that was received at ``now``.
    static func entry(
        _ text: String = "",
        status: Int = 200,
        delay: Double = 0,
        receivedAt offset: Double = 0,
        first: Int = 0,
        count: Int = 10,
        total: Int? = 10
    ) -> CacheEntry {
        CacheEntry(
            id: UUID(),
            key: CacheKey(resource: "r", account: "a"),
            statusCode: status,
            headers: headers(text),
            requestDate: now + offset - delay,
            responseDate: now + offset,
            firstByte: first,
            byteCount: count,
            totalByteCount: total
        )
    }

    static let targeted: CacheRules = {
        var rules = CacheRules.shared
        rules.targetedFields = ["Test-Cache-Control", "CDN-Cache-Control"].compactMap { HTTPField.Name($0) }
        return rules
    }()

    static func rules(_ name: String) -> CacheRules {
        switch name {
        case "shared": .shared
        case "targeted": targeted
        default: .private
        }
    }
}
