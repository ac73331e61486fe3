/// Values decoded from an answer while it is on its way.
///
/// ```swift
/// for try await line in try await provider.stream(.log).lines() {
///     print(line)
/// }
/// ```
///
/// **Effects**
///
/// - Nothing is read before the first value is asked for. A piece of the body is read when all values of those before it have been
///   taken; a slow reader so slows the server down, as far as the transport can.
/// - Decoding happens away from the reader's actor.
/// - Leave the loop and drop the iterator, and the exchange is closed; an error closes it too.
/// - Values of one answer can be read once, like its body.
///
/// **Errors**: what the body throws, such as ``PipelineError/Code-swift.struct/connectionLost``;
/// ``PipelineError/Code-swift.struct/truncated`` for a body that is shorter than announced; what the decoder throws, after all values
/// that came before; `CancellationError` when the reading task is cancelled.
public struct StreamedValues<Element: Sendable>: AsyncSequence, Sendable {
    typealias Read = @Sendable () async throws -> [Element]?

    private let makeRead: @Sendable () -> Read

    init<Source: BatchSource>(_ makeSource: @escaping @Sendable () throws -> Source) where Source.Element == Element {
        makeRead = {
            let reader = BatchReader(makeSource)
            return { try await reader.read() }
        }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(read: makeRead())
    }

    /// Reads value by value.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let read: Read
        private var ready: ArraySlice<Element> = []

        init(read: @escaping Read) {
            self.read = read
        }

        /// The next value, `nil` at the end.
        public mutating func next() async throws -> Element? {
            if let element = ready.popFirst() { return element }
            ready = try await read()?[...] ?? []
            return ready.popFirst()
        }
    }
}
