public import Foundation
import Synchronization

/// The body of a request or a response: nothing, bytes, a file, or a stream.
///
/// Bytes, files and streams made with `replaying:` can be read again. Any other stream can be read once, and a second
/// read fails with ``PipelineError/Code-swift.struct/bodyConsumed``. Check ``isReplayable`` before you send a body a
/// second time.
public struct PipelineBody: Sendable, SafelyDescribed {
    private enum Storage {
        case absent
        case bytes(Data)
        case file(File)
        case stream(StreamSource)
    }

    private final class File: Sendable {
        let url: URL
        /// The writer of the file; a temporary file is removed with it.
        let writer: FileWriter?
        let length: Length

        init(url: URL, writer: FileWriter? = nil, length: Length = .unmeasured) {
            self.url = url
            self.writer = writer
            self.length = length
        }

        enum Length {
            case unmeasured
            /// The length in bytes; `nil` if the system does not report it.
            case measured(Int?)
        }
    }

    private let storage: Storage

    /// No body at all, unlike `.bytes(Data())`, which is a body of zero bytes.
    public static let absent = PipelineBody(storage: .absent)

    /// Makes a body of bytes in memory.
    public static func bytes(_ data: Data) -> PipelineBody {
        PipelineBody(storage: .bytes(data))
    }

    /// Makes a body from a file, which is read in pieces of 64 KiB.
    ///
    /// A file that cannot be read fails with ``PipelineError/Code-swift.struct/file(_:)`` and `unreadable`.
    public static func file(_ url: URL) -> PipelineBody {
        PipelineBody(storage: .file(File(url: url)))
    }

    /// Makes a body from a file that has been measured.
    static func file(_ url: URL, byteCount: Int?) -> PipelineBody {
        PipelineBody(storage: .file(File(url: url, length: .measured(byteCount))))
    }

    /// Makes a body from a file that the pipeline has written and still holds.
    static func written(_ file: FileWriter, byteCount: Int) -> PipelineBody {
        PipelineBody(storage: .file(File(url: file.url, writer: file, length: .measured(byteCount))))
    }

    /// The file that the pipeline has written; `nil` for every other body.
    var writtenFile: FileWriter? {
        guard case .file(let file) = storage else { return nil }
        return file.writer
    }

    /// Makes a stream that can be read once.
    ///
    /// - Parameters:
    ///   - chunks: the bytes in pieces of any size.
    ///   - byteCount: the total number of bytes, 0 or more, or `nil` if it is unknown.
    /// - Returns: a body that is not replayable.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        byteCount: Int? = nil
    ) -> PipelineBody where Chunks.Element == Data {
        stream(byteCount, isReplayable: false) { chunks }
    }

    /// Makes a stream that can be read again; each read uses a new sequence.
    ///
    /// - Parameters:
    ///   - byteCount: the total number of bytes, 0 or more, or `nil` if it is unknown.
    ///   - makeChunks: returns the bytes from the beginning, in pieces of any size.
    /// - Returns: a body that is replayable.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        byteCount: Int? = nil,
        replaying makeChunks: @escaping @Sendable () -> Chunks
    ) -> PipelineBody where Chunks.Element == Data {
        stream(byteCount, isReplayable: true, makeChunks: makeChunks)
    }

    /// Makes a body with files that have not been measured; until then it is a stream of unknown length.
    static func unmeasured(
        _ chunks: MultipartChunks,
        measure: @escaping @Sendable () throws -> PipelineBody
    ) -> PipelineBody {
        stream(nil, isReplayable: chunks.isReplayable, measure: measure) { chunks }
    }

    private static func stream<Chunks: AsyncSequence & Sendable>(
        _ byteCount: Int?,
        isReplayable: Bool,
        measure: (@Sendable () throws -> PipelineBody)? = nil,
        makeChunks: @escaping @Sendable () -> Chunks
    ) -> PipelineBody where Chunks.Element == Data {
        let source = StreamSource(byteCount, isReplayable: isReplayable, measure: measure) {
            var iterator = makeChunks().makeAsyncIterator()
            return { try await iterator.next(isolation: #isolation) }
        }
        return PipelineBody(storage: .stream(source))
    }

    /// Returns the same body, read by an actor; replayable if this one is.
    func read(by makeReader: @escaping @Sendable () -> any ChunkReader) -> PipelineBody {
        let source = StreamSource(byteCount, isReplayable: isReplayable) {
            let reader = makeReader()
            return { try await reader.next() }
        }
        return PipelineBody(storage: .stream(source))
    }

    /// The bytes if they are in memory, empty for an absent body; `nil` for a file or a stream.
    public var bytes: Data? {
        switch storage {
        case .absent: Data()
        case .bytes(let data): data
        case .file, .stream: nil
        }
    }

    /// The number of bytes in memory; `nil` for a file or a stream.
    var inMemoryByteCount: Int? {
        switch storage {
        case .absent: 0
        case .bytes(let data): data.count
        case .file, .stream: nil
        }
    }

    /// The URL of the file; `nil` unless the body is a file.
    public var fileURL: URL? {
        guard case .file(let file) = storage else { return nil }
        return file.url
    }

    var isFile: Bool {
        if case .file = storage { true } else { false }
    }

    /// Whether the body has files that have not been measured.
    var isUnmeasured: Bool {
        switch storage {
        case .absent, .bytes: false
        case .file(let file): if case .unmeasured = file.length { true } else { false }
        case .stream(let source): source.measure != nil
        }
    }

    /// Returns the same body with its files measured: they can be read, and their current length is known.
    ///
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/file(_:)``, and `CancellationError`.
    func measured() async throws -> PipelineBody {
        switch storage {
        case .absent, .bytes: return self
        case .file(let file):
            let byteCount = try await FileLane().run { try Self.requireReadableFile(file.url) }
            return PipelineBody(storage: .file(File(url: file.url, writer: file.writer, length: .measured(byteCount))))
        case .stream(let source):
            guard let measure = source.measure else { return self }
            return try await FileLane().run(measure)
        }
    }

    /// Returns the length without blocking a thread of the cooperative pool.
    private func knownByteCount() async throws -> Int? {
        guard case .file(let file) = storage, case .unmeasured = file.length else { return byteCount }
        return try await FileLane().run { Self.byteCount(of: file.url) }
    }

    /// Whether the body is absent; a body of zero bytes is not.
    public var isAbsent: Bool {
        guard case .absent = storage else { return false }
        return true
    }

    /// The length in bytes, or `nil` if it is unknown.
    ///
    /// It is unknown for a stream that does not state its length, for a file that cannot be read, and for a file that
    /// has content but a length of 0, such as those under `/proc`.
    ///
    /// The pipeline measures the file of a request before plugins and transports see it, and the file of a download as
    /// well. For any other file, each access queries the file system and blocks the calling thread.
    public var byteCount: Int? {
        switch storage {
        case .absent: 0
        case .bytes(let data): data.count
        case .file(let file):
            switch file.length {
            case .measured(let byteCount): byteCount
            case .unmeasured: Self.byteCount(of: file.url)
            }
        case .stream(let source): source.byteCount
        }
    }

    /// Whether the body can be read more than once.
    public var isReplayable: Bool {
        switch storage {
        case .absent, .bytes, .file: true
        case .stream(let source): source.isReplayable
        }
    }

    /// Whether the body can be read only once and reading has begun.
    public var isConsumed: Bool {
        guard case .stream(let source) = storage else { return false }
        return source.isConsumed
    }

    /// Returns the bytes in pieces, from the beginning.
    public func chunks() -> Chunks {
        switch storage {
        case .absent: Chunks { { nil } }
        case .bytes(let data): Chunks { Self.makeOnce(data) }
        case .file(let file):
            Chunks {
                let reader = FileReader(file.url, of: file.writer)
                return { try await reader.next() }
            }
        case .stream(let source): Chunks { try source.makeNext() }
        }
    }

    /// Reads the whole body into memory.
    ///
    /// - Parameter limit: the largest body to accept, in bytes.
    /// - Returns: all bytes.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/limit(_:)`` if the body is larger,
    ///   ``PipelineError/Code-swift.struct/bodyConsumed`` if it was read before,
    ///   ``PipelineError/Code-swift.struct/truncated`` if it is shorter than the stream's length; `CancellationError`;
    ///   and the errors of the stream.
    public func collect(upTo limit: Int) async throws -> Data {
        try await collect(upTo: limit, onProgress: { _ in })
    }

    /// Reads the whole body into memory and reports the byte count after each piece.
    func collect(upTo limit: Int, onProgress: (Int) -> Void) async throws -> Data {
        if let byteCount = try await knownByteCount(), byteCount > limit { throw Self.tooLarge(limit) }
        if let bytes { return bytes }
        var collected = Data()
        for try await chunk in chunks() {
            guard collected.count + chunk.count <= limit else { throw Self.tooLarge(limit) }
            collected.append(chunk)
            onProgress(collected.count)
        }
        try Self.requireWhole(collected.count, of: announcedByteCount)
        return collected
    }

    /// The announced length of a stream; `nil` for any other body, which is available in full.
    var announcedByteCount: Int? {
        guard case .stream(let source) = storage else { return nil }
        return source.byteCount
    }

    /// Throws if a cancellation ended the stream, or if the stream is shorter than announced.
    static func requireWhole(_ count: Int, of announced: Int?) throws {
        try Task.checkCancellation()
        guard let announced, announced > count else { return }
        throw PipelineError(.truncated, "\(count) of \(announced) bytes arrived")
    }

    static func tooLarge(_ limit: Int) -> PipelineError {
        PipelineError(.limit(.bodyBytes), "the body is larger than the \(limit) bytes allowed")
    }

    private static func makeOnce(_ data: Data) -> Chunks.Next {
        var rest: Data? = data.isEmpty ? nil : data
        return { rest.take() }
    }
}

extension PipelineBody {
    /// The pieces of a body.
    ///
    /// If you stop reading and drop the iterator, the exchange that delivers the body is closed.
    public struct Chunks: AsyncSequence, Sendable {
        /// A piece of the body.
        public typealias Element = Data

        typealias Next = () async throws -> Data?

        private let makeNext: @Sendable () throws -> Next

        init(makeNext: @escaping @Sendable () throws -> Next) {
            self.makeNext = makeNext
        }

        /// Returns an iterator over the pieces.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(makeNext: makeNext)
        }

        /// An iterator that reads a body piece by piece.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private let makeNext: @Sendable () throws -> Next
            private var upstream: Next?

            init(makeNext: @escaping @Sendable () throws -> Next) {
                self.makeNext = makeNext
            }

            /// Returns the next piece, or `nil` at the end.
            public mutating func next() async throws -> Data? {
                if let upstream { return try await upstream() }
                let upstream = try makeNext()
                self.upstream = upstream
                return try await upstream()
            }
        }
    }

    private final class StreamSource: Sendable {
        let byteCount: Int?
        let isReplayable: Bool
        /// Returns the body with its files measured; `nil` if there is nothing to measure.
        let measure: (@Sendable () throws -> PipelineBody)?
        private let isTaken = Atomic(false)
        private let make: @Sendable () -> Chunks.Next

        init(
            _ byteCount: Int?,
            isReplayable: Bool,
            measure: (@Sendable () throws -> PipelineBody)? = nil,
            make: @escaping @Sendable () -> Chunks.Next
        ) {
            self.byteCount = byteCount
            self.isReplayable = isReplayable
            self.measure = measure
            self.make = make
        }

        var isConsumed: Bool { !isReplayable && isTaken.load(ordering: .acquiring) }

        func makeNext() throws -> Chunks.Next {
            guard isReplayable || !isTaken.exchange(true, ordering: .acquiringAndReleasing) else {
                throw PipelineError(.bodyConsumed, "the body is a stream that was read before")
            }
            return make()
        }
    }
}

extension PipelineBody {
    /// The kind and the length of the body, without its bytes.
    public var description: String {
        if isAbsent { return "no body" }
        let count = byteCount.map { "\($0) bytes" }
        if bytes != nil { return count ?? "bytes" }
        let kind = fileURL == nil ? "a stream" : "a file"
        return count.map { "\(kind) of \($0)" } ?? kind
    }
}
