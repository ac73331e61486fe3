extension PipelineError {
    /// What went wrong: a word or, for a failure of a ``Kind``, the kind and a detail after a full stop.
    ///
    /// A pattern matches a code or a kind: `case .timeout` matches `.timeout(.connect)` and all other timeouts. Outside a pattern, compare
    /// codes with `==`, and ask for a kind with ``isKind(of:)``. A plugin or an app may add codes and kinds of its own, and throw errors with
    /// any code.
    ///
    /// ```swift
    /// switch error.code {
    /// case .timeout: showSlowNetwork()
    /// case .connect(.refused): showServerDown()
    /// default: show(error)
    /// }
    /// ```
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The text, for example `timeout.connect`.
        public let rawValue: String

        /// Makes a code; plugins may have codes of their own.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Makes a code of a kind, for example `timeout.connect`.
        public init(_ kind: Kind, _ detail: String) {
            rawValue = kind.name + "." + detail
        }

        /// The text.
        public var description: String { rawValue }

        /// Whether this is a code of the kind.
        public func isKind(of kind: Kind) -> Bool {
            rawValue == kind.name || rawValue.hasPrefix(kind.name + ".")
        }

        /// Lets `case .timeout` match every code of the kind.
        public static func ~= (kind: Kind, value: Code) -> Bool {
            value.isKind(of: kind)
        }

        /// Whether the request got no connection, so that nothing of it was sent: `offline`, `dns`, `tls`, `connect`,
        /// `timeout.connect` and `timeout.pool`.
        ///
        /// This is about one exchange: if the exchange follows a redirect, a server has received the request before.
        public var provesNothingSent: Bool {
            switch self {
            case .offline, .dns, .tls, .connect, .timeout(.connect), .timeout(.pool): true
            default: false
            }
        }

        /// What codes with details have in common, such as `timeout` of `timeout.connect`.
        ///
        /// A kind is not a code: no error has it, and it cannot be compared with a code.
        public struct Kind: Sendable, Hashable {
            /// The text before the full stop.
            public let name: String

            /// Makes a kind.
            public init(_ name: String) {
                self.name = name
            }
        }
    }
}

extension PipelineError.Code {
    /// The call was cancelled; async callers get `CancellationError` instead.
    public static let cancelled = Self(rawValue: "cancelled")
    /// A plugin threw an error of its own.
    public static let plugin = Self(rawValue: "plugin")
    /// Parameters or a value could not be encoded.
    public static let encoding = Self(rawValue: "encoding")
    /// The status is not one that the target accepts.
    public static let unacceptableStatus = Self(rawValue: "unacceptableStatus")
    /// A stream was read a second time.
    public static let bodyConsumed = Self(rawValue: "bodyConsumed")
    /// A part of the body did not have the length that was announced.
    public static let bodyChanged = Self(rawValue: "bodyChanged")
    /// What is wrong with the file.
    public static func file(_ failure: FileFailure) -> Self { Self(.file, failure.rawValue) }
    /// A stub that should not answer has no transport to pass the request to.
    public static let stubWithoutTransport = Self(rawValue: "stubWithoutTransport")

    /// The machine has no network; nothing was sent.
    ///
    /// On Linux: no route leads to the host, or the connection or the resolution of the host's name failed while no network interface but
    /// loopback was up. Never for a loopback address.
    public static let offline = Self(rawValue: "offline")
    /// The host's name could not be resolved, nothing was sent.
    public static let dns = Self(rawValue: "dns")
    /// Why TLS failed.
    public static func tls(_ failure: TLSFailure) -> Self { Self(.tls, failure.rawValue) }
    /// The connection ended before the response was complete.
    public static let connectionLost = Self(rawValue: "connectionLost")
    /// The body is shorter than its announced length.
    public static let truncated = Self(rawValue: "truncated")
    /// The response is not valid HTTP, or is a part that the request for a download did not ask for.
    public static let malformedResponse = Self(rawValue: "malformedResponse")
    /// Why the body could not be decoded.
    public static func contentCoding(_ reason: CodingFailure) -> Self { Self(.contentCoding, reason.rawValue) }
    /// The transport was shut down, before the call or during it.
    public static let clientClosed = Self(rawValue: "clientClosed")
    /// Any other failure of the transport; the underlying error says more.
    public static let transport = Self(rawValue: "transport")

    /// No connection, with the reason.
    public static func connect(_ reason: ConnectReason) -> Self { Self(.connect, reason.rawValue) }

    /// The part of the request that cannot be sent.
    public static func invalidRequest(_ part: RequestPart) -> Self { Self(.invalidRequest, part.rawValue) }

    /// Time ran out in a phase.
    public static func timeout(_ phase: TimeoutPhase) -> Self { Self(.timeout, phase.rawValue) }

    /// The limit that was exceeded.
    public static func limit(_ limit: Limit) -> Self { Self(.limit, limit.rawValue) }

    /// How redirects did not end.
    public static func redirect(_ reason: RedirectReason) -> Self { Self(.redirect, reason.rawValue) }

    /// The mapping that failed.
    public static func mapping(_ kind: Mapping) -> Self { Self(.mapping, kind.rawValue) }
}

extension PipelineError.Code.Kind {
    /// A file could not be read or written.
    public static let file = Self("file")
    /// TLS failed, a certificate or a handshake; nothing was sent.
    public static let tls = Self("tls")
    /// The body could not be decoded from its content coding.
    public static let contentCoding = Self("contentCoding")
    /// No connection, so nothing was sent.
    public static let connect = Self("connect")
    /// The request cannot be sent as it is.
    public static let invalidRequest = Self("invalidRequest")
    /// Time ran out.
    public static let timeout = Self("timeout")
    /// A limit was exceeded.
    public static let limit = Self("limit")
    /// Redirects did not end.
    public static let redirect = Self("redirect")
    /// The body does not map to what was asked for.
    public static let mapping = Self("mapping")
}

extension PipelineError.Code {
    /// Why there is no connection.
    public struct ConnectReason: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// Connection refused: no server listens on the port.
        public static let refused = Self(rawValue: "refused")
        /// The host cannot be reached.
        public static let unreachable = Self(rawValue: "unreachable")
    }

    /// Why TLS failed.
    public struct TLSFailure: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// The server's certificate is not trusted: it has expired, or no known authority has signed it.
        public static let certificate = Self(rawValue: "certificate")
        /// The certificate is for another host.
        public static let hostName = Self(rawValue: "hostName")
        /// The TLS handshake failed, or the server does not speak TLS.
        public static let handshake = Self(rawValue: "handshake")
    }

    /// A part of a request.
    public struct RequestPart: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// The URL as a whole.
        public static let url = Self(rawValue: "url")
        /// The scheme.
        public static let scheme = Self(rawValue: "scheme")
        /// A user name or password in the URL.
        public static let userInfo = Self(rawValue: "userInfo")
        /// Host and port, of the server or of a proxy.
        public static let authority = Self(rawValue: "authority")
        /// Path and query.
        public static let path = Self(rawValue: "path")
        /// The name of a header field.
        public static let headerName = Self(rawValue: "headerName")
        /// The value of a header field.
        public static let headerValue = Self(rawValue: "headerValue")
        /// A body that the method or the transport cannot carry.
        public static let body = Self(rawValue: "body")
        /// A credential that must not be sent this way.
        public static let credential = Self(rawValue: "credential")
        /// An option whose plugin is not in the stack, see ``UnhandledOptionPolicy``.
        public static let option = Self(rawValue: "option")
    }

    /// A phase in which time can run out.
    public struct TimeoutPhase: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// Makes a phase; plugins may have phases of their own.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// One attempt, from the moment its exchange has a connection to the last byte of the response.
        public static let attempt = Self(rawValue: "attempt")
        /// The whole call, with all its attempts and waits.
        public static let total = Self(rawValue: "total")
        /// No byte for too long.
        public static let idle = Self(rawValue: "idle")
        /// Connecting.
        public static let connect = Self(rawValue: "connect")
        /// The wait for a connection while other exchanges use as many as are allowed.
        public static let pool = Self(rawValue: "pool")
        /// The wait for the header fields of the response.
        public static let head = Self(rawValue: "head")
        /// Sending: the server reads no more of the body.
        public static let write = Self(rawValue: "write")

        /// What has this phase, for texts.
        var what: String { self == .total ? "call" : rawValue }
    }

    /// A limit.
    public struct Limit: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// Makes a limit; plugins may have limits of their own.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// ``PipelineLimits/bufferedBodyByteCount``.
        public static let bodyBytes = Self(rawValue: "bodyBytes")
        /// ``PipelineLimits/headerByteCount``.
        public static let headerBytes = Self(rawValue: "headerBytes")
        /// ``PipelineLimits/headerCount``.
        public static let headerCount = Self(rawValue: "headerCount")
        /// ``PipelineLimits/exchangeCount``.
        public static let exchanges = Self(rawValue: "exchanges")
        /// ``PipelineLimits/nestedCallCount``.
        public static let nestedCalls = Self(rawValue: "nestedCalls")
        /// Interim responses (1xx) before the response.
        public static let informational = Self(rawValue: "informational")
        /// A line of a body that is read line by line.
        public static let lineBytes = Self(rawValue: "lineBytes")
        /// The data of an event that a server sends.
        public static let eventBytes = Self(rawValue: "eventBytes")
        /// Bytes that have arrived and have not been read.
        public static let unreadBytes = Self(rawValue: "unreadBytes")
    }

    /// Why a body could not be decoded from its content coding.
    public struct CodingFailure: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// It ends too early.
        public static let truncated = Self(rawValue: "truncated")
        /// It is damaged, or is not in the coding that it is said to be in.
        public static let corrupt = Self(rawValue: "corrupt")
        /// Something follows its end.
        public static let trailing = Self(rawValue: "trailing")
        /// Its coding is not known.
        public static let unsupported = Self(rawValue: "unsupported")
        /// The decoder failed, for example for lack of memory.
        public static let decoder = Self(rawValue: "decoder")
    }

    /// What is wrong with a file.
    public struct FileFailure: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// It is not there, or may not be read.
        public static let unreadable = Self(rawValue: "unreadable")
        /// Its directory is not there, or it may not be written.
        public static let notWritable = Self(rawValue: "notWritable")
        /// It is there already.
        public static let exists = Self(rawValue: "exists")
        /// It is a directory.
        public static let directory = Self(rawValue: "directory")
        /// There is no room for it.
        public static let noSpace = Self(rawValue: "noSpace")
        /// Another download writes it.
        public static let busy = Self(rawValue: "busy")
    }

    /// How redirects did not end.
    public struct RedirectReason: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// More hops than the policy follows.
        public static let tooMany = Self(rawValue: "tooMany")
        /// More hops than the policy follows, and the last leads where an earlier one was.
        public static let loop = Self(rawValue: "loop")
    }

    /// A mapping of a body.
    public struct Mapping: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// JSON.
        public static let json = Self(rawValue: "json")
        /// Text.
        public static let string = Self(rawValue: "string")
        /// A `Decodable` value.
        public static let object = Self(rawValue: "object")
        /// A key path into JSON.
        public static let keyPath = Self(rawValue: "keyPath")
        /// An image of the platform.
        public static let image = Self(rawValue: "image")
        /// Server-Sent Events.
        public static let events = Self(rawValue: "events")
        /// A problem report (RFC 9457), see ``ProblemDetails``.
        public static let problem = Self(rawValue: "problem")
    }
}
