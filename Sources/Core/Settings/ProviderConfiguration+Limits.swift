import HTTPTypes

extension ProviderConfiguration {
    /// Upper bounds for everything that a server, a user or a plugin could make large.
    ///
    /// A call that exceeds a limit fails with a typed error. The `discardedBody…` limits only close the exchange.
    ///
    /// **Defaults**
    ///
    /// | setting | default | unit | range |
    /// |---|---|---|---|
    /// | `bufferedBodyByteCount` | 104,857,600 (100 MiB) | bytes | 0 and up |
    /// | `downloadByteCount` | 17,179,869,184 (16 GiB) | bytes of a file | 0 and up |
    /// | `headerByteCount` | 65,536 (64 KiB) | bytes of names and values, plus 4 per field | 1 and up |
    /// | `headerCount` | 1,000 | fields | 1 and up |
    /// | `discardedBodyByteCount` | 65,536 (64 KiB) | bytes of a body that the call does not need | 0 and up |
    /// | `discardedBodyDuration` | 1 s | time spent reading such a body | 0 and up |
    /// | `exchangeCount` | 1,000 | exchanges of one call, including retries and redirects; also attempts | 1 and up |
    /// | `nestedCallCount` | 10 | calls made by plugins inside calls | 1 and up |
    ///
    /// ``RedirectPolicy/maximumHopCount`` limits the number of redirects that are followed.
    public struct Limits: Sendable, Hashable {
        /// The maximum size of a body buffered for `request`, in bytes.
        public var bufferedBodyByteCount: Int
        /// The maximum size of a file that a download writes, in bytes.
        public var downloadByteCount: Int
        /// The maximum size of the header fields of a request or a response, in bytes.
        public var headerByteCount: Int
        /// The maximum number of header fields of a request or a response.
        public var headerCount: Int
        /// The most bytes to read of a body that the call does not need, before its exchange is closed.
        ///
        /// Such bodies are those of redirects and failed attempts; see ``PipelineResponse/discardBody(_:within:)``. If
        /// the target does not accept the status of a stream, this also limits how much of the body is kept.
        public var discardedBodyByteCount: Int
        /// The longest time to read a body that the call does not need, before its exchange is closed.
        public var discardedBodyDuration: Duration
        /// The maximum number of exchanges of one call.
        public var exchangeCount: Int
        /// The maximum depth of the calls that plugins make while they handle a call, including in tasks that they
        /// start.
        public var nestedCallCount: Int

        /// Makes limits, with the defaults in the table above.
        public init(
            bufferedBodyByteCount: Int = 100 << 20,
            downloadByteCount: Int = Int(clamping: Int64(16) << 30),
            headerByteCount: Int = 64 << 10,
            headerCount: Int = 1_000,
            discardedBodyByteCount: Int = 64 << 10,
            discardedBodyDuration: Duration = .seconds(1),
            exchangeCount: Int = 1_000,
            nestedCallCount: Int = 10
        ) {
            precondition(bufferedBodyByteCount >= 0, "bufferedBodyByteCount is \(bufferedBodyByteCount), not 0 or more")
            precondition(downloadByteCount >= 0, "downloadByteCount is \(downloadByteCount), not 0 or more")
            precondition(headerByteCount > 0, "headerByteCount is \(headerByteCount), not 1 or more")
            precondition(headerCount > 0, "headerCount is \(headerCount), not 1 or more")
            precondition(
                discardedBodyByteCount >= 0,
                "discardedBodyByteCount is \(discardedBodyByteCount), not 0 or more"
            )
            precondition(
                discardedBodyDuration >= .zero,
                "discardedBodyDuration is \(discardedBodyDuration), not 0 or more"
            )
            precondition(exchangeCount > 0, "exchangeCount is \(exchangeCount), not 1 or more")
            precondition(nestedCallCount > 0, "nestedCallCount is \(nestedCallCount), not 1 or more")
            self.bufferedBodyByteCount = bufferedBodyByteCount
            self.downloadByteCount = downloadByteCount
            self.headerByteCount = headerByteCount
            self.headerCount = headerCount
            self.discardedBodyByteCount = discardedBodyByteCount
            self.discardedBodyDuration = discardedBodyDuration
            self.exchangeCount = exchangeCount
            self.nestedCallCount = nestedCallCount
        }

        /// Returns the error for header fields that are too large or too many.
        func headerFailure(byteCount: Int, count: Int) -> PipelineError? {
            if byteCount > headerByteCount {
                return PipelineError(
                    .limit(.headerBytes),
                    "\(byteCount) bytes of header fields; limits.headerByteCount is \(headerByteCount)"
                )
            }
            if count > headerCount {
                return PipelineError(
                    .limit(.headerCount),
                    "\(count) header fields; limits.headerCount is \(headerCount)"
                )
            }
            return nil
        }

        /// Returns the error for a response whose header fields are too large or too many.
        func headerFailure(of fields: HTTPFields) -> PipelineError? {
            var byteCount = 0
            for field in fields {
                byteCount += field.withUnsafeBytesOfValue(\.count) + field.name.rawName.utf8.count + 4
            }
            return headerFailure(byteCount: byteCount, count: fields.count)
        }
    }
}
