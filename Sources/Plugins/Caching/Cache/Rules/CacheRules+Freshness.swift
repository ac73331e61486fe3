import Foundation
import HTTPTypes

extension CacheRules {
    /// How old a stored response is, and how long it is fresh, in seconds.
    struct Freshness: Sendable, Equatable {
        var age: Int
        var lifetime: Int
        /// Whether the lifetime was estimated from Last-Modified.
        var isHeuristic: Bool
        /// The directives of the response.
        var control: CacheControl

        var isFresh: Bool { lifetime > age }
        /// How long the response has been stale; zero for a fresh one.
        var staleness: Int { max(0, age - lifetime) }
    }

    /// Returns the directives of a response: those of the first valid targeted field, otherwise Cache-Control.
    ///
    /// Pragma has no meaning in a response (RFC 9111 §5.4).
    func control(of headers: HTTPFields) -> CacheControl {
        for name in targetedFields {
            if let control = CacheControl(targeted: headers[values: name]) { return control }
        }
        return CacheControl(headers[values: .cacheControl])
    }

    /// Returns the age and the freshness lifetime of a stored response (RFC 9111 §4.2).
    func freshness(of entry: CacheEntry, at now: Date) -> Freshness {
        let control = control(of: entry.headers)
        let received = entry.responseDate.timeIntervalSince1970
        let date = entry.headers.first(.date).flatMap { CacheDate.seconds($0, now: entry.responseDate) }
        let (lifetime, isHeuristic) = lifetime(
            entry.headers,
            status: entry.statusCode,
            control,
            date: date ?? Self.seconds(received),
            received: entry.responseDate
        )
        // RFC 9111 §4.2.3. A clock that was set back makes no response younger than it was on arrival.
        let apparentAge = max(0, received - Double(date ?? .max))
        let delay = max(0, received - entry.requestDate.timeIntervalSince1970)
        let correctedAge = Double(Self.ageValue(entry.headers)) + delay
        let residentTime = max(0, now.timeIntervalSince1970 - received)
        let age = Self.seconds(max(apparentAge, correctedAge) + residentTime)
        return Freshness(age: age, lifetime: lifetime, isHeuristic: isHeuristic, control: control)
    }

    private static func seconds(_ interval: Double) -> Int {
        Int(max(-1e12, min(1e12, interval.isNaN ? 1e12 : interval)).rounded(.down))
    }

    /// Returns the first value of Age; zero if it is absent or invalid (RFC 9111 §5.1).
    private static func ageValue(_ headers: HTTPFields) -> Int {
        guard let line = headers.first(.age) else { return 0 }
        let first = line.utf8.prefix { $0 != UInt8(ascii: ",") }
        return CacheControl.seconds(Substring(first).trimmed.utf8) ?? 0
    }

    /// Returns the freshness lifetime in seconds, zero and up (RFC 9111 §4.2.1).
    ///
    /// `date` is the value of Date in seconds since 1970, or when the response was received.
    func lifetime(
        _ headers: HTTPFields,
        status: Int,
        _ control: CacheControl,
        date: Int,
        received: Date
    ) -> (seconds: Int, isHeuristic: Bool) {
        if isShared, let sharedMaxAge = control.sharedMaxAge { return (sharedMaxAge, false) }
        if let maxAge = control.maxAge { return (maxAge, false) }
        if !control.isTargeted {
            let lines = headers[values: .expires]
            if let first = lines.first {
                guard lines.allSatisfy({ $0 == first }), let expiry = CacheDate.seconds(first, now: received) else {
                    return (0, false)
                }
                return (min(max(0, expiry - date), CacheControl.maximumSeconds), false)
            }
        }
        guard control.isPublic || Self.isHeuristicallyCacheable(status),
            let line = headers.first(.lastModified), let modified = CacheDate.seconds(line, now: received)
        else { return (0, false) }
        let fraction = heuristicFraction.isFinite ? max(0, min(1, heuristicFraction)) : 0
        let maximum = max(0, min(CacheControl.maximumSeconds, Int(maximumHeuristicLifetime.components.seconds)))
        return (min(maximum, Int(Double(max(0, date - modified)) * fraction)), true)
    }

    /// Whether a status code permits heuristic freshness (RFC 9110 §15.1).
    static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        switch status {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }
}

extension HTTPFields {
    /// Returns the value of the first line of a field; `nil` if there is none.
    func first(_ name: HTTPField.Name) -> String? { first { $0.name == name }?.value }

    /// Returns the value of a field; `nil` if it is absent or has several lines.
    func single(_ name: HTTPField.Name) -> String? {
        let lines = self[values: name]
        return lines.count == 1 ? lines[0] : nil
    }
}
