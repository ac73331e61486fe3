public import Foundation

extension Endpoint {
    /// Returns the URL of a text, for ``TargetType/baseURL``.
    ///
    /// ```swift
    /// var baseURL: URL { Endpoint.url("https://api.example.com/v1") }
    /// ```
    ///
    /// A text that is not a URL does not stop the program: each request to it fails with code
    /// ``PipelineError/Code-swift.struct/invalidRequest(_:)``, and the error shows scheme and host of the text, nothing else.
    ///
    /// - Parameter text: an absolute http or https URL, usually a literal.
    /// - Returns: the URL, or one that no request can be made of.
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

    /// Why ``url(_:)`` could not return a URL that can be requested; `nil` for any other URL.
    static func failure(ofURL url: String) -> PipelineError? {
        guard url.hasPrefix(unusable) else { return nil }
        let written = url.dropFirst(unusable.count).prefix { !"/?#".contains($0) }
        // Nothing is shown that url(_:) has not written.
        guard let reason = String(written).removingPercentEncoding, !reason.isEmpty, pathSegment(reason) == written,
            !reason.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f })
        else { return PipelineError(.invalidRequest(.url), "the URL is not valid") }
        return PipelineError(.invalidRequest(.url), reason)
    }

    /// The scheme of a URL that holds the reason why there is none.
    private static let unusable = "unusable-url:"
}
