extension StreamedResponse {
    /// Values decoded from a response while it arrives.
    ///
    /// ```swift
    /// for try await line in try await provider.stream(.log).lines() {
    ///     print(line)
    /// }
    /// ```
    ///
    /// **Effects**
    ///
    /// - Nothing is read before the first value is requested. The next piece of the body is read when all values of the
    ///   earlier pieces have been taken. A slow reader therefore slows down the server, as far as the transport can.
    /// - Decoding happens off the reader's actor.
    /// - The exchange is closed if you leave the loop and drop the iterator, or if an error is thrown.
    /// - The values of a response can be read once, like its body.
    ///
    /// **Errors**
    ///
    /// - The errors of the body, such as ``PipelineError/Code-swift.struct/connectionLost``.
    /// - ``PipelineError/Code-swift.struct/truncated`` if the body is shorter than announced.
    /// - The errors of the decoder, after all values before them.
    /// - `CancellationError` if the reading task is cancelled.
    public struct Values<Element: Sendable>: AsyncSequence, Sendable {
        typealias Read = @Sendable () async throws -> [Element]?

        private let makeRead: @Sendable () -> Read

        init<Source: BatchSource>(_ makeSource: @escaping @Sendable () throws -> Source)
        where Source.Element == Element {
            makeRead = {
                let reader = BatchReader(makeSource)
                return { try await reader.read() }
            }
        }

        /// Returns an iterator over the values.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(read: makeRead())
        }

        /// An iterator that reads value by value.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private let read: Read
            private var ready: ArraySlice<Element> = []

            init(read: @escaping Read) {
                self.read = read
            }

            /// Returns the next value, or `nil` at the end.
            public mutating func next() async throws -> Element? {
                if let element = ready.popFirst() { return element }
                ready = try await read()?[...] ?? []
                return ready.popFirst()
            }
        }
    }
}
