import Foundation
import HTTPTypes

extension CacheRules {
    /// Returns the URIs whose stored responses a response invalidates (RFC 9111 §4.4), each as ``resourceText(_:)``.
    ///
    /// After a 2xx or 3xx response to a method that is not known to be safe, these are the target, and the URIs of
    /// Location and Content-Location if they have the same origin.
    static func invalidated(by response: HTTPResponse, to request: HTTPRequest) -> [String] {
        guard !safeMethods.contains(request.method.rawValue), (200..<400).contains(response.status.code),
            let target = resourceText(request), let base = URL(string: target)
        else { return [] }
        var resources = [target]
        for name in [HTTPField.Name.location, .contentLocation] {
            guard let text = response.headerFields.first(name),
                let components = URL(string: text, relativeTo: base).flatMap({
                    URLComponents(url: $0.absoluteURL, resolvingAgainstBaseURL: true)
                })
            else { continue }
            let port = components.port.map { ":\($0)" } ?? ""
            let query = components.percentEncodedQuery.map { "?" + $0 } ?? ""
            let resource = resourceText(
                scheme: components.scheme,
                authority: components.percentEncodedHost.map { $0 + port },
                path: components.percentEncodedPath + query
            )
            guard let resource, origin(resource) == origin(target), !resources.contains(resource) else { continue }
            resources.append(resource)
        }
        return resources
    }

    /// The methods of the IANA registry that are safe.
    private static let safeMethods: Set = [
        "GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "REPORT", "SEARCH", "PRI",
    ]

    /// Returns the URI of a resource without its fragment: the scheme and the host in lowercase, the port unless it is
    /// the default, the path and the query.
    ///
    /// Returns `nil` if the request has no scheme or host, or has user information.
    static func resourceText(_ request: HTTPRequest) -> String? {
        resourceText(scheme: request.scheme, authority: request.authority, path: request.path)
    }

    private static func resourceText(scheme: String?, authority: String?, path: String?) -> String? {
        guard let scheme = scheme?.lowercased(), var host = authority?.lowercased(), !scheme.isEmpty, !host.isEmpty,
            !host.utf8.contains(UInt8(ascii: "@"))
        else { return nil }
        let port = scheme == "https" ? ":443" : scheme == "http" ? ":80" : ":"
        if host.hasSuffix(port) { host.removeLast(port.utf8.count) }
        if host.hasSuffix(":") { host.removeLast() }
        guard !host.isEmpty else { return nil }
        var path = path ?? ""
        if let fragment = path.utf8.firstIndex(of: UInt8(ascii: "#")) { path.removeSubrange(fragment...) }
        if path.utf8.first != UInt8(ascii: "/") { path = "/" + path }
        return scheme + "://" + host + path
    }

    /// Returns the part of a resource before its path.
    private static func origin(_ resource: String) -> Substring {
        let parts = resource.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return parts.count == 4 ? resource[..<parts[3].startIndex] : resource[...]
    }
}
