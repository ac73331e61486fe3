#if AsyncHTTPClient
import Pipeline

/// Errors of NIOHTTP2. The package does not depend on it, so they are recognized by name.
extension AsyncHTTPClientErrorMapping {
    private static let largeHeader = "ExcessivelyLargeHeaderBlock"
    private static let fatal: Set<String> = [largeHeader, "ExcessiveContinuationFrames", "UnableToParseFrame"]

    /// Returns whether NIO stops reading from a connection after this error.
    static func endsHTTP2Connection(_ error: any Error) -> Bool {
        name(of: error).map { fatal.contains($0) } ?? false
    }

    /// Returns the meaning of an HTTP/2 error, or `nil` for any other error.
    static func meaningOfHTTP2(_ error: any Error, _ phase: Phase) -> Meaning? {
        guard let name = name(of: error) else { return nil }
        switch name {
        case largeHeader: return (.limit(.headerBytes), "the header fields are larger than NIO accepts")
        case "StreamClosed": return lost(phase)
        default:
            return (.malformedResponse, "the response is not HTTP/2, or its header fields are larger than NIO accepts")
        }
    }

    /// Returns the name of the error's type if it belongs to NIOHTTP2.
    private static func name(of error: any Error) -> String? {
        let parts = String(reflecting: type(of: error)).split(separator: ".")
        guard let module = parts.first, module == "NIOHTTP2" || module == "NIOHPACK" else { return nil }
        return parts.last.map(String.init)
    }
}
#endif
