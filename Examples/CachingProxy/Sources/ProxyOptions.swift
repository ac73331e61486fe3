import Pipeline

/// The options of the command line.
struct ProxyOptions {
    static let help = """
        usage: caching-proxy [--origin URL] [--port PORT] [--cdn | --private]

          --origin URL  the server to forward to, such as http://127.0.0.1:8000; a demo server by default
          --port PORT   the port to listen on; 0, the default, chooses a free one
          --cdn         obey CDN-Cache-Control, as the caches of a content delivery network do
          --private     cache for a single user instead of for all
        """

    private(set) var origin: String?
    private(set) var port = 0
    private(set) var isCDN = false
    private(set) var isPrivate = false
    private(set) var showsHelp = false

    init(_ arguments: some Sequence<String>) throws {
        var rest = arguments.makeIterator()
        while let name = rest.next() {
            switch name {
            case "--origin": origin = try Self.origin(rest.next() ?? "")
            case "--port": port = try Self.port(rest.next() ?? "")
            case "--cdn": isCDN = true
            case "--private": isPrivate = true
            case "--help", "-h": showsHelp = true
            default: throw Problem("the option \(name) is unknown; --help lists the options")
            }
        }
        if isCDN && isPrivate { throw Problem("--cdn and --private cannot be used together; omit one of them") }
    }

    private static func origin(_ text: String) throws -> String {
        guard let head = try? PipelineRequest(url: text).head, let scheme = head.scheme, let authority = head.authority,
            head.path == "/"
        else { throw Problem("--origin is \(text); it must be an http or https URL without a path") }
        return "\(scheme)://\(authority)"
    }

    private static func port(_ text: String) throws -> Int {
        guard let port = UInt16(text) else { throw Problem("--port is \(text), not a number from 0 to 65535") }
        return Int(port)
    }

    /// A mistake in the command line.
    struct Problem: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }
}
