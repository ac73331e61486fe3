public import Foundation

extension Endpoint {
    /// Returns the URL for a text, for use in ``TargetType/baseURL``.
    ///
    /// ```swift
    /// var baseURL: URL { Endpoint.url("https://api.example.com/v1") }
    /// ```
    ///
    /// An invalid text does not stop the program. Instead, each request to it fails with code
    /// ``PipelineError/Code-swift.struct/invalidRequest(_:)``, and the error shows only the scheme and host of the
    /// text.
    ///
    /// - Parameter text: an absolute http or https URL, usually a literal.
    /// - Returns: the URL, or one that cannot be requested if the text is not a URL.
    public static func url(_ text: String) -> URL {
        if let url = URL(string: text) { return url }
        var reason = "the text of the URL cannot be parsed"
        do {
            _ = try URLText.requestTarget(of: text)
        } catch let error as PipelineError {
            reason = error.reason
        } catch {}
        return URL(string: unusable + pathSegment(reason)) ?? URL(filePath: "/")
    }

    /// Returns why ``url(_:)`` could not return a usable URL; `nil` for any other URL.
    static func failure(ofURL url: String) -> PipelineError? {
        guard url.hasPrefix(unusable) else { return nil }
        let written = url.dropFirst(unusable.count).prefix { !"/?#".contains($0) }
        // Only text that url(_:) has written is shown.
        guard let reason = String(written).removingPercentEncoding, !reason.isEmpty, pathSegment(reason) == written,
            !reason.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f })
        else { return PipelineError(.invalidRequest(.url), "the URL is not valid") }
        return PipelineError(.invalidRequest(.url), reason)
    }

    /// The scheme of a placeholder URL that holds the reason for the failure.
    private static let unusable = "unusable-url:"
}
