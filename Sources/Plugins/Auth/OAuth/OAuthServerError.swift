public import PipelineCore

/// An error that an authorization server reported.
///
/// ```swift
/// } catch let error as PipelineError where (error.underlyingError as? OAuthServerError)?.error == "invalid_scope" {
/// ```
///
/// **Secrets**: the texts come from the server. Characters outside of printable ASCII are removed, the length is
/// limited, and the secrets that were sent to the server are replaced by `…`, also in percent-encoding and base64.
///
/// Source: RFC 6749 §5.2, https://www.rfc-editor.org/rfc/rfc6749.html#section-5.2
public struct OAuthServerError: Error, Hashable, SafelyDescribed {
    /// The error code, such as `invalid_client`; at most 64 characters.
    public let error: String
    /// The explanation for developers; at most 200 characters, `nil` if there is none.
    public let errorDescription: String?

    init(error: String, description: String?, hiding secrets: [String] = []) {
        self.error = Self.cleaned(error, hiding: secrets, 64)
        errorDescription = description.map { Self.cleaned($0, hiding: secrets, 200) }
    }

    /// The code and the explanation.
    public var description: String { errorDescription.map { "\(error): \($0)" } ?? error }

    /// The error for callers.
    var pipelineError: PipelineError {
        let failure: PipelineError.Code.OAuthFailure =
            switch error {
            case "access_denied": .denied
            case "expired_token": .expired
            default: .server
            }
        let reason = "the authorization server responded with the error \(description)"
        return PipelineError(.oauth(failure), reason, underlyingError: self)
    }

    /// Removes characters first, because they could interrupt a secret.
    private static func cleaned(_ text: String, hiding secrets: [String], _ maximumCount: Int) -> String {
        let secrets = secrets.map(printable).filter { $0.utf8.count >= 4 }
        return String(Redactor(secretValues: secrets).text(printable(text)).prefix(maximumCount))
    }

    private static func printable(_ text: String) -> String {
        String(text.unicodeScalars.filter { (0x20...0x7e).contains($0.value) })
    }
}
