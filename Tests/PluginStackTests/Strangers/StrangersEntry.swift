import Foundation
import HTTPTypes

/// A stored response.
struct StrangersEntry: Sendable {
    private(set) var headers: HTTPFields
    let data: Data
    private var date: Date

    init(_ headers: HTTPFields, _ data: Data, at date: Date) {
        self.headers = headers
        self.headers[.setCookie] = nil
        self.data = data
        self.date = date
    }

    private var directives: CacheDirectives { CacheDirectives(headers) }

    var isStorable: Bool {
        !directives.noStore && (directives.maxAge != nil || headers.contains(.eTag))
            && (headers[.vary] ?? "Accept-Encoding").lowercased() == "accept-encoding"
    }

    func timeToLive(at now: Date) -> Int {
        (directives.maxAge ?? 0) - Int(now.timeIntervalSince(date)) - (headers[.age].flatMap { Int($0) } ?? 0)
    }

    func mayReplaceError(at now: Date) -> Bool {
        directives.staleIfError.map { timeToLive(at: now) + $0 >= 0 } ?? false
    }

    mutating func refresh(by fields: HTTPFields, at now: Date) {
        date = now
        for field in fields where ![.setCookie, .contentLength, .contentEncoding].contains(field.name) {
            headers[field.name] = fields[field.name]
        }
    }
}

/// The directives of Cache-Control that the cache reads.
struct CacheDirectives {
    let noStore: Bool
    let maxAge: Int?
    let staleIfError: Int?

    init(_ fields: HTTPFields) {
        let parts = (fields[.cacheControl] ?? "").lowercased().split(separator: ",").map { $0.filter { $0 != " " } }
        func seconds(_ name: String) -> Int? {
            parts.first { $0.hasPrefix(name + "=") }.flatMap { Int($0.dropFirst(name.count + 1)) }
        }
        noStore = parts.contains("no-store")
        maxAge = parts.contains("no-cache") ? 0 : seconds("max-age")
        staleIfError = seconds("stale-if-error")
    }
}
