#if AsyncHTTPClient
import Pipeline

/// Errors of NIOHTTP2, which is no dependency of this package: known by their names.
extension AsyncHTTPClientErrorMapping {
    private static let largeHeader = "ExcessivelyLargeHeaderBlock"
    private static let fatal: Set<String> = [largeHeader, "ExcessiveContinuationFrames", "UnableToParseFrame"]

    /// Whether NIO reads nothing more from a connection after this error.
    static func endsHTTP2Connection(_ error: any Error) -> Bool {
        name(of: error).map { fatal.contains($0) } ?? false
    }

    /// What an error of HTTP/2 means, `nil` for any other.
    static func meaningOfHTTP2(_ error: any Error, _ phase: Phase) -> Meaning? {
        guard let name = name(of: error) else { return nil }
        switch name {
        case largeHeader: return (.limit(.headerBytes), "the header fields are larger than NIO accepts")
        case "StreamClosed": return lost(phase)
        default:
            return (.malformedResponse, "the answer is not HTTP/2, or its header fields are larger than NIO accepts")
        }
    }

    /// The name of an error's type when it is one of NIOHTTP2's.
    private static func name(of error: any Error) -> String? {
        let parts = String(reflecting: type(of: error)).split(separator: ".")
        guard let module = parts.first, module == "NIOHTTP2" || module == "NIOHPACK" else { return nil }
        return parts.last.map(String.init)
    }
}
#endif
