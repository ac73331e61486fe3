import Foundation
import HTTPTypes

extension CacheRules {
    /// Whether a response is stored.
    enum Storing: Sendable, Equatable {
        /// The response is stored with these fields.
        case store(HTTPFields)
        /// The response is not stored, for a reason such as `no-store`.
        case refuse(String)
    }

    /// Decides whether a response is stored (RFC 9111 §3).
    ///
    /// - Parameters:
    ///   - response: the response of the origin.
    ///   - request: the request as it was sent.
    ///   - hasCredential: whether the request has Authorization, a cookie or another secret; for shared caches.
    ///   - now: when the response was received.
    /// - Returns: the fields to store, or a reason.
    func storing(_ response: HTTPResponse, to request: HTTPRequest, hasCredential: Bool, now: Date) -> Storing {
        guard request.method == .get || request.method == .query else { return .refuse("method") }
        let headers = response.headerFields
        let status = response.status.code
        if let reason = Self.refusal(of: status, headers, to: request) { return .refuse(reason) }
        if CacheControl(request.headerFields[values: .cacheControl]).noStore {
            return .refuse("no-store of the request")
        }
        let control = control(of: headers)
        if control.mustUnderstand {
            guard Self.isUnderstood(status) else { return .refuse("must-understand") }
        } else if control.noStore {
            return .refuse("no-store")
        }
        if isShared {
            if control.isPrivate == .all { return .refuse("private") }
            let isPermitted = control.isPublic || control.mustRevalidate || control.sharedMaxAge != nil
            if hasCredential, !isPermitted { return .refuse("credentials") }
        }
        guard Self.varyNames(headers) != nil else { return .refuse("Vary: *") }
        guard isCacheable(status, headers, control) else { return .refuse("status \(status)") }
        guard isUseful(status, headers, control, now: now) else { return .refuse("no lifetime and no validator") }
        return storedFields(of: response, control, now: now)
    }

    /// Returns why a status can never be stored for this request; `nil` if it can.
    private static func refusal(of status: Int, _ headers: HTTPFields, to request: HTTPRequest) -> String? {
        let hasRange = request.headerFields.contains(.range)
        switch status {
        // These depend on fields of the request that are not part of its key.
        case ..<200, 304, 412, 416: return "status \(status)"
        // RFC 6585 §3 to §6: a cache must not store them.
        case 428, 429, 431, 511: return "status \(status)"
        case 206: return hasRange && ContentRange(headers) != nil ? nil : "invalid part"
        case 200: return nil
        default: return hasRange ? "status \(status) for a range" : nil
        }
    }

    private func isCacheable(_ status: Int, _ headers: HTTPFields, _ control: CacheControl) -> Bool {
        isExplicit(headers, control) || Self.isHeuristicallyCacheable(status)
    }

    /// Whether the origin says that the response may be stored.
    private func isExplicit(_ headers: HTTPFields, _ control: CacheControl) -> Bool {
        control.isPublic || control.maxAge != nil || (!isShared && control.isPrivate != nil)
            || (isShared && control.sharedMaxAge != nil) || (!control.isTargeted && headers.contains(.expires))
    }

    /// Returns whether a response may replace a stored one: an error only if its origin says that it may be stored, or
    /// that the resource is gone.
    func mayReplace(with response: HTTPResponse) -> Bool {
        let status = response.status.code
        return status < 400 || status == 404 || status == 410
            || isExplicit(response.headerFields, control(of: response.headerFields))
    }

    /// Whether the response can ever be reused.
    private func isUseful(_ status: Int, _ headers: HTTPFields, _ control: CacheControl, now: Date) -> Bool {
        if EntityTag.validator(headers) != nil || headers.contains(.lastModified) { return true }
        if control.noCache == .all { return false }
        let date = headers.first(.date).flatMap { CacheDate.seconds($0, now: now) }
        let fallback = Int(now.timeIntervalSince1970.rounded(.down))
        let lifetime = lifetime(headers, status: status, control, date: date ?? fallback, received: now).seconds
        return lifetime > 0 || (control.staleWhileRevalidate ?? 0) > 0 || (control.staleIfError ?? 0) > 0
    }

    private func storedFields(of response: HTTPResponse, _ control: CacheControl, now: Date) -> Storing {
        var headers = response.headerFields
        for name in Self.unstoredNames(headers) + restrictedNames(control) {
            guard !isNeeded(name) || !headers.contains(name) else { return .refuse("removed \(name.canonicalName)") }
            headers[fields: name] = []
        }
        if response.status.code == 206 {
            headers[fields: .contentRange] = []
            headers[fields: .contentLength] = []
        }
        // RFC 9110 §6.6.1: a recipient with a clock adds Date if it is missing.
        if !headers.contains(.date) { headers[.date] = CacheDate.text(now) }
        return .store(headers)
    }

    /// Returns the fields that `no-cache` or `private` excludes from the stored response (RFC 9111 §5.2.2.4, §5.2.2.7).
    func restrictedNames(_ control: CacheControl) -> [HTTPField.Name] {
        (control.noCache?.names ?? []) + (isShared ? control.isPrivate?.names ?? [] : [])
    }

    /// Whether a response without the field could be reused where it must not be.
    private func isNeeded(_ name: HTTPField.Name) -> Bool {
        [.vary, .cacheControl, .age, .date, .expires].contains(name) || targetedFields.contains(name)
    }

    /// The status codes whose caching requirements are implemented: the final ones of RFC 9110, and 308.
    private static func isUnderstood(_ status: Int) -> Bool {
        switch status {
        case 200...206, 300...305, 307, 308, 400...417, 421, 422, 426, 500...505: true
        default: false
        }
    }

    /// Returns the fields of a response that are not stored, and not updated in a stored response.
    ///
    /// These are the fields of the connection and of proxies (RFC 9111 §3.1), Trailer, since trailers are not stored,
    /// Set-Cookie, which would set old cookies for other calls, and Authentication-Info, whose nonce may be used once.
    static func unstoredNames(_ headers: HTTPFields) -> [HTTPField.Name] {
        alwaysUnstored
            + headers[values: .connection].flatMap(elements).compactMap { HTTPField.Name(String($0)) }
    }

    private static let alwaysUnstored: [HTTPField.Name] =
        [
            .connection, .proxyAuthenticate, .proxyAuthenticationInfo, .proxyAuthorization, .te, .trailer,
            .transferEncoding, .upgrade, .setCookie,
        ] + ["Authentication-Info", "Keep-Alive", "Proxy-Connection", "Set-Cookie2"].compactMap { HTTPField.Name($0) }
}
