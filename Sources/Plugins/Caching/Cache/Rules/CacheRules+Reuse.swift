import Foundation
import HTTPTypes

extension CacheRules {
    /// How a stored response is used for a request.
    enum Reuse: Sendable, Equatable {
        /// It is the response, without a request to the origin.
        case fresh(Freshness)
        /// It is the response, and has to be revalidated in the background (RFC 5861 §3).
        case staleWhileRevalidating(Freshness)
        /// It is the response although it is stale: `max-stale` or the policy permits it.
        case stale(Freshness)
        /// The origin must be asked. If that fails, the response may be used while its ``Freshness/staleness`` is at
        /// most the number of seconds (RFC 5861 §4); never if that is `nil`.
        case validate(Freshness, staleIfErrorUntilStaleness: Int?)
        /// It must not be used, as if it were not stored.
        case unusable(reason: String)

        /// Whether it is the response before, or without, a request to the origin.
        var isWithoutOrigin: Bool {
            switch self {
            case .fresh, .staleWhileRevalidating, .stale: true
            case .validate, .unusable: false
            }
        }
    }

    /// Decides how a stored response, which the request selects, is used (RFC 9111 §4).
    func reuse(_ entry: CacheEntry, for request: HTTPRequest, policy: CachePolicy, at now: Date) -> Reuse {
        if policy == .noStore || policy == .reload { return .unusable(reason: "policy \(policy)") }
        let headers = request.headerFields
        // Only the origin evaluates these (RFC 9110 §13.1.1, §13.1.4).
        if headers.contains(.ifMatch) { return .unusable(reason: "If-Match") }
        if headers.contains(.ifUnmodifiedSince) { return .unusable(reason: "If-Unmodified-Since") }
        let directives = Self.directives(of: headers)
        if directives.noStore { return .unusable(reason: "no-store of the request") }
        let freshness = freshness(of: entry, at: now)
        if isShared, freshness.control.isPrivate == .all { return .unusable(reason: "private") }
        let result = reuse(freshness, directives, policy)
        guard policy == .onlyIfCached || policy == .offline || directives.onlyIfCached else { return result }
        // The origin must not be contacted, not even in the background.
        switch result {
        case .staleWhileRevalidating(let freshness): return .stale(freshness)
        case .validate: return .unusable(reason: "only-if-cached")
        case .fresh, .stale, .unusable: return result
        }
    }

    private func reuse(_ freshness: Freshness, _ directives: CacheControl, _ policy: CachePolicy) -> Reuse {
        let control = freshness.control
        let isValidated = policy == .revalidate && !(control.immutable && freshness.isFresh)
        if control.noCache == .all || directives.noCache != nil || isValidated {
            return .validate(freshness, staleIfErrorUntilStaleness: nil)
        }
        if policy == .offline, freshness.isFresh || permitsStale(control) {
            return freshness.isFresh ? .fresh(freshness) : .stale(freshness)
        }
        let isYoungEnough = directives.maxAge.map { $0 > 0 && freshness.age <= $0 } ?? true
        let isFreshEnough = freshness.lifetime - freshness.age >= directives.minFresh ?? 0
        if isYoungEnough, isFreshEnough, freshness.isFresh { return .fresh(freshness) }
        let isForbidden = control.mustRevalidate || (isShared && control.proxyRevalidate)
        if isYoungEnough, directives.minFresh == nil, !freshness.isFresh {
            if permitsStale(control), let maxStale = directives.maxStale, freshness.staleness <= maxStale {
                return .stale(freshness)
            }
            if !isForbidden, let window = control.staleWhileRevalidate, freshness.staleness < window {
                return .staleWhileRevalidating(freshness)
            }
        }
        let general = permitsStale(control) ? Int(clamping: staleIfError.components.seconds) : 0
        let permitted = control.staleIfError ?? general
        // Like max-stale, the request can permit only what the response does not forbid.
        let asked = directives.staleIfError.map { permitsStale(control) ? $0 : min($0, permitted) }
        let errorWindow = isForbidden ? 0 : asked ?? permitted
        return .validate(freshness, staleIfErrorUntilStaleness: errorWindow > 0 ? errorWindow : nil)
    }

    /// Whether the response may be used stale without a directive that permits it explicitly (RFC 9111 §4.2.4).
    ///
    /// `s-maxage` implies `proxy-revalidate`. The extensions `stale-while-revalidate` and `stale-if-error` of the same
    /// response take precedence over that, because they modify directives they occur with (§5.2.3).
    func permitsStale(_ control: CacheControl) -> Bool {
        let isSharedForbidden = isShared && (control.proxyRevalidate || control.sharedMaxAge != nil)
        return !control.mustRevalidate && control.noCache != .all && !isSharedForbidden
    }

    /// Returns the directives of a request; Pragma counts only without Cache-Control (RFC 7234 §5.4).
    static func directives(of headers: HTTPFields) -> CacheControl {
        let lines = headers[values: .cacheControl]
        var control = CacheControl(lines)
        if lines.isEmpty, let pragma = HTTPField.Name.pragma, headers.contains(pragma) {
            if CacheControl(headers[values: pragma]).noCache != nil { control.noCache = .all }
        }
        return control
    }
}

extension HTTPField.Name {
    /// Pragma (RFC 9111 §5.4); never `nil`, because the name is valid.
    fileprivate static let pragma = HTTPField.Name("Pragma")
}
