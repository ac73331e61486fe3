extension PipelineError {
    /// A code that names what went wrong: a word or, for a failure of a ``Kind``, the kind and a detail separated by a
    /// full stop.
    ///
    /// A pattern matches a code or a kind: `case .timeout` matches `.timeout(.connect)` and all other timeouts. Outside
    /// a pattern, compare codes with `==`, and check for a kind with ``isKind(of:)``. A plugin or an app may define
    /// codes and kinds of its own, and throw errors with any code.
    ///
    /// ```swift
    /// switch error.code {
    /// case .timeout: showSlowNetwork()
    /// case .connect(.refused): showServerDown()
    /// default: show(error)
    /// }
    /// ```
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The text of the code, for example `timeout.connect`.
        public let rawValue: String

        /// Makes a code; plugins may define their own.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Makes a code of a kind, for example `timeout.connect`.
        public init(_ kind: Kind, _ detail: String) {
            rawValue = kind.name + "." + detail
        }

        /// The text of the code, which is ``rawValue``.
        public var description: String { rawValue }

        /// Returns whether this is a code of the given kind.
        public func isKind(of kind: Kind) -> Bool {
            rawValue == kind.name || rawValue.hasPrefix(kind.name + ".")
        }

        /// Returns whether a code is of the given kind, so that `case .timeout` matches every timeout.
        public static func ~= (kind: Kind, value: Code) -> Bool {
            value.isKind(of: kind)
        }

        /// Whether the code proves that the request got no connection, so that nothing of it was sent.
        ///
        /// This is `true` for `offline`, `dns`, `tls`, `connect`, `proxy`, `timeout.connect` and `timeout.pool`. It
        /// applies to one exchange: if the exchange follows a redirect, a server has already received the request.
        public var provesNothingSent: Bool {
            switch self {
            case .offline, .dns, .tls, .connect, .proxy, .timeout(.connect), .timeout(.pool): true
            default: false
            }
        }

        /// A group of codes with details, such as `timeout` for `timeout.connect`.
        ///
        /// A kind is not a code: no error has it, and it cannot be compared with a code.
        public struct Kind: Sendable, Hashable {
            /// The text before the full stop.
            public let name: String

            /// Makes a kind from the text before the full stop.
            public init(_ name: String) {
                self.name = name
            }
        }
    }
}

extension PipelineError.Code? {
    /// Returns whether there is a code and it is of the given kind, so that patterns match `error?.code`, too.
    public static func ~= (kind: PipelineError.Code.Kind, value: Self) -> Bool {
        value?.isKind(of: kind) ?? false
    }
}

extension PipelineError.Code {
    /// The call has no access token, or is one of a session that has ended or has not begun.
    public static let sessionEnded = Self(rawValue: "sessionEnded")
    /// A stored body became unreadable within a stream; the response is no longer stored.
    public static let unreadableCache = Self(rawValue: "cache.unreadable")
    /// The call was cancelled; async callers get `CancellationError` instead.
    public static let cancelled = Self(rawValue: "cancelled")
    /// A plugin threw an error other than a ``PipelineError``, or called `next` or `send` after it had returned.
    public static let plugin = Self(rawValue: "plugin")
    /// Parameters or a value could not be encoded.
    public static let encoding = Self(rawValue: "encoding")
    /// The target does not accept the status of the response.
    public static let unacceptableStatus = Self(rawValue: "unacceptableStatus")
    /// A stream was read a second time.
    public static let bodyConsumed = Self(rawValue: "bodyConsumed")
    /// A part of the body does not have its announced length.
    public static let bodyChanged = Self(rawValue: "bodyChanged")
    /// Returns the code of a file that could not be read or written.
    public static func file(_ failure: FileFailure) -> Self { Self(.file, failure.rawValue) }
    /// A stub has no transport to pass the request on to.
    public static let stubWithoutTransport = Self(rawValue: "stubWithoutTransport")

    /// The machine has no network; nothing was sent.
    ///
    /// On Linux: no route leads to the host, or connecting or resolving the host's name failed while no network
    /// interface except loopback was up. Never used for a loopback address.
    public static let offline = Self(rawValue: "offline")
    /// The host's name could not be resolved; nothing was sent.
    public static let dns = Self(rawValue: "dns")
    /// Returns the code of a TLS failure; nothing was sent.
    public static func tls(_ failure: TLSFailure) -> Self { Self(.tls, failure.rawValue) }
    /// The connection ended before the response was complete.
    public static let connectionLost = Self(rawValue: "connectionLost")
    /// The body is shorter than its announced length.
    public static let truncated = Self(rawValue: "truncated")
    /// The response is not valid HTTP, or is a partial response that the request for a download did not ask for.
    public static let malformedResponse = Self(rawValue: "malformedResponse")
    /// Returns the code of a body that could not be decoded from its content coding.
    public static func contentCoding(_ reason: CodingFailure) -> Self { Self(.contentCoding, reason.rawValue) }
    /// The transport was shut down, before the call or during it.
    public static let clientClosed = Self(rawValue: "clientClosed")
    /// Any other failure of the transport; the underlying error has the details.
    public static let transport = Self(rawValue: "transport")

    /// Returns the code of a connection that could not be made; nothing was sent.
    public static func connect(_ reason: ConnectReason) -> Self { Self(.connect, reason.rawValue) }

    /// Returns the code of a proxy that opened no tunnel to the host; nothing was sent.
    public static func proxy(_ failure: ProxyFailure) -> Self { Self(.proxy, failure.rawValue) }

    /// Returns the code of a request with a part that cannot be sent.
    public static func invalidRequest(_ part: RequestPart) -> Self { Self(.invalidRequest, part.rawValue) }

    /// Returns the code of a timeout in the given phase.
    public static func timeout(_ phase: TimeoutPhase) -> Self { Self(.timeout, phase.rawValue) }

    /// Returns the code of a limit that was exceeded.
    public static func limit(_ limit: Limit) -> Self { Self(.limit, limit.rawValue) }

    /// Returns the code of too many redirects or a redirect loop.
    public static func redirect(_ reason: RedirectReason) -> Self { Self(.redirect, reason.rawValue) }

    /// Returns the code of a body that could not be mapped to what was requested.
    public static func mapping(_ kind: Mapping) -> Self { Self(.mapping, kind.rawValue) }

    /// Returns the code of a setting that needs a capability that the transport does not have; nothing was sent.
    public static func unsupported(_ capability: Capability) -> Self { Self(.unsupported, capability.rawValue) }
}

extension PipelineError.Code.Kind {
    /// A file could not be read or written.
    public static let file = Self("file")
    /// TLS failed because of a certificate or the handshake; nothing was sent.
    public static let tls = Self("tls")
    /// The body could not be decoded from its content coding.
    public static let contentCoding = Self("contentCoding")
    /// The connection could not be made; nothing was sent.
    public static let connect = Self("connect")
    /// A proxy opened no tunnel to the host; nothing was sent.
    public static let proxy = Self("proxy")
    /// The request cannot be sent as it is.
    public static let invalidRequest = Self("invalidRequest")
    /// A phase of the call timed out.
    public static let timeout = Self("timeout")
    /// A limit of the call was exceeded.
    public static let limit = Self("limit")
    /// There were more redirects than the policy follows.
    public static let redirect = Self("redirect")
    /// The body could not be mapped to what was requested.
    public static let mapping = Self("mapping")
    /// The transport does not have a capability that a setting needs; nothing was sent.
    public static let unsupported = Self("unsupported")
}

extension PipelineError.Code {
    /// The reason why a connection could not be made.
    public struct ConnectReason: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// Connection refused: no server listens on the port.
        public static let refused = Self(rawValue: "refused")
        /// The host cannot be reached.
        public static let unreachable = Self(rawValue: "unreachable")
    }

    /// The reason why a proxy opened no tunnel.
    public struct ProxyFailure: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// The proxy requires a user name and a password, or does not accept those that it was given.
        public static let authentication = Self(rawValue: "authentication")
        /// The proxy refused to connect to the host, or does not speak the expected protocol.
        public static let refused = Self(rawValue: "refused")
    }

    /// The reason why TLS failed.
    public struct TLSFailure: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// The server's certificate is not trusted, because it has expired or no known authority has signed it.
        public static let certificate = Self(rawValue: "certificate")
        /// The certificate is for another host.
        public static let hostName = Self(rawValue: "hostName")
        /// The TLS handshake failed, or the server does not speak TLS.
        public static let handshake = Self(rawValue: "handshake")
        /// The key of the server's certificate is not pinned, or a pinned host was requested without TLS.
        public static let pin = Self(rawValue: "pin")
        /// An authority or a client identity of the app's own settings cannot be used.
        public static let configuration = Self(rawValue: "configuration")
    }

    /// A part of a request that cannot be sent.
    public struct RequestPart: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// The URL as a whole.
        public static let url = Self(rawValue: "url")
        /// The scheme of the URL.
        public static let scheme = Self(rawValue: "scheme")
        /// A user name or password in the URL.
        public static let userInfo = Self(rawValue: "userInfo")
        /// The host and port of the server or of a proxy.
        public static let authority = Self(rawValue: "authority")
        /// The path and query of the URL.
        public static let path = Self(rawValue: "path")
        /// The method: CONNECT, or one that the transport cannot send as it is.
        public static let method = Self(rawValue: "method")
        /// The name of a header field.
        public static let headerName = Self(rawValue: "headerName")
        /// The value of a header field.
        public static let headerValue = Self(rawValue: "headerValue")
        /// A body that the method or the transport cannot carry.
        public static let body = Self(rawValue: "body")
        /// A credential that must not be sent this way.
        public static let credential = Self(rawValue: "credential")
        /// An option whose plugin is not in the stack, see ``ProviderConfiguration/UnhandledOptionPolicy``.
        public static let option = Self(rawValue: "option")
    }

    /// A phase of a call that can time out.
    public struct TimeoutPhase: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// Makes a phase; plugins may define their own.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// One attempt, from the moment its exchange has a connection to the last byte of the response.
        public static let attempt = Self(rawValue: "attempt")
        /// The whole call, with all its attempts and waits.
        public static let total = Self(rawValue: "total")
        /// The wait for the next byte.
        public static let idle = Self(rawValue: "idle")
        /// The time to make a connection.
        public static let connect = Self(rawValue: "connect")
        /// The wait for a connection while other exchanges use as many as are allowed.
        public static let pool = Self(rawValue: "pool")
        /// The wait for the header fields of the response.
        public static let head = Self(rawValue: "head")
        /// Sending the body, which the server has stopped reading.
        public static let write = Self(rawValue: "write")

        /// What timed out, as a word for messages.
        var what: String { self == .total ? "call" : rawValue }
    }

    /// A limit that a call can exceed.
    public struct Limit: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// Makes a limit; plugins may define their own.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The size of a body, see ``ProviderConfiguration/Limits/bufferedBodyByteCount`` and
        /// ``ProviderConfiguration/Limits/downloadByteCount``.
        public static let bodyBytes = Self(rawValue: "bodyBytes")
        /// The size of the header fields, see ``ProviderConfiguration/Limits/headerByteCount``.
        public static let headerBytes = Self(rawValue: "headerBytes")
        /// The number of header fields, see ``ProviderConfiguration/Limits/headerCount``.
        public static let headerCount = Self(rawValue: "headerCount")
        /// The number of exchanges, see ``ProviderConfiguration/Limits/exchangeCount``.
        public static let exchanges = Self(rawValue: "exchanges")
        /// The depth of nested calls, see ``ProviderConfiguration/Limits/nestedCallCount``.
        public static let nestedCalls = Self(rawValue: "nestedCalls")
        /// The number of interim responses (1xx) before the response.
        public static let informational = Self(rawValue: "informational")
        /// The length of a line in a body that is read line by line.
        public static let lineBytes = Self(rawValue: "lineBytes")
        /// The size of the data in a server-sent event.
        public static let eventBytes = Self(rawValue: "eventBytes")
        /// The number of bytes that have arrived but have not been read.
        public static let unreadBytes = Self(rawValue: "unreadBytes")
    }

    /// The reason why a body could not be decoded from its content coding.
    public struct CodingFailure: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// The encoded body ends too early.
        public static let truncated = Self(rawValue: "truncated")
        /// The encoded body is damaged, or is not in its declared coding.
        public static let corrupt = Self(rawValue: "corrupt")
        /// More data follows the end of the encoded body.
        public static let trailing = Self(rawValue: "trailing")
        /// The content coding is not known.
        public static let unsupported = Self(rawValue: "unsupported")
        /// The decoder failed, for example for lack of memory.
        public static let decoder = Self(rawValue: "decoder")
    }

    /// The reason why a file could not be read or written.
    public struct FileFailure: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// The file does not exist or cannot be read.
        public static let unreadable = Self(rawValue: "unreadable")
        /// The directory of the file does not exist, or the file cannot be written.
        public static let notWritable = Self(rawValue: "notWritable")
        /// The file already exists.
        public static let exists = Self(rawValue: "exists")
        /// The file is a directory.
        public static let directory = Self(rawValue: "directory")
        /// There is not enough space for the file.
        public static let noSpace = Self(rawValue: "noSpace")
        /// Another download is writing the file.
        public static let busy = Self(rawValue: "busy")
        /// The file is not the one whose checksum was expected, or the checksum cannot be one.
        public static let checksum = Self(rawValue: "checksum")
    }

    /// The reason why following redirects failed.
    public struct RedirectReason: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// There were more redirects than the policy follows.
        public static let tooMany = Self(rawValue: "tooMany")
        /// There were more redirects than the policy follows, and the last one leads to an earlier URL.
        public static let loop = Self(rawValue: "loop")
    }

    /// A mapping of a response body that can fail.
    public struct Mapping: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// The mapping to JSON.
        public static let json = Self(rawValue: "json")
        /// The mapping to text.
        public static let string = Self(rawValue: "string")
        /// The mapping to a `Decodable` value.
        public static let object = Self(rawValue: "object")
        /// The mapping of a key path in JSON.
        public static let keyPath = Self(rawValue: "keyPath")
        /// The mapping to an image of the platform.
        public static let image = Self(rawValue: "image")
        /// The mapping to Server-Sent Events.
        public static let events = Self(rawValue: "events")
    }

    /// A capability that a setting needs and a transport may not have.
    public struct Capability: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// Makes a capability; transports may define their own.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Pinning the key of a server.
        public static let pinning = Self(rawValue: "pinning")
        /// Trusting authorities other than the system's.
        public static let authorities = Self(rawValue: "authorities")
        /// Presenting a client certificate.
        public static let clientIdentity = Self(rawValue: "clientIdentity")
        /// Setting the minimum version of TLS for a host.
        public static let minimumTLSVersion = Self(rawValue: "minimumTLSVersion")
    }
}
