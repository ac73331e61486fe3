public import Foundation
import Synchronization

/// The body of a request or a response: nothing, bytes, a file, or a stream.
///
/// Bytes, files and streams made with `replaying:` can be read again. Any other stream can be read once; who needs to send
/// again asks ``isReplayable`` first, and a second read is ``PipelineError/Code-swift.struct/bodyConsumed``.
public struct PipelineBody: Sendable, SafelyDescribed {
    private enum Storage {
        case absent
        case bytes(Data)
        case file(File)
        case stream(StreamSource)
    }

    private final class File: Sendable {
        let url: URL
        /// What it was written with; a temporary file goes with it.
        let writer: FileWriter?
        let length: Length

        init(url: URL, writer: FileWriter? = nil, length: Length = .unmeasured) {
            self.url = url
            self.writer = writer
            self.length = length
        }

        enum Length {
            case unmeasured
            /// So many bytes, `nil` if the system does not say.
            case measured(Int?)
        }
    }

    private let storage: Storage

    /// No body at all, unlike `.bytes(Data())`, which is a body of zero bytes.
    public static let absent = PipelineBody(storage: .absent)

    /// Bytes in memory.
    public static func bytes(_ data: Data) -> PipelineBody {
        PipelineBody(storage: .bytes(data))
    }

    /// A file, read in pieces of 64 KiB when the body is; one that cannot be read is
    /// ``PipelineError/Code-swift.struct/file(_:)`` with `unreadable`.
    public static func file(_ url: URL) -> PipelineBody {
        PipelineBody(storage: .file(File(url: url)))
    }

    /// A file whose length is known.
    static func file(_ url: URL, byteCount: Int?) -> PipelineBody {
        PipelineBody(storage: .file(File(url: url, length: .measured(byteCount))))
    }

    /// A file that the pipeline has written and still holds.
    static func written(_ file: FileWriter, byteCount: Int) -> PipelineBody {
        PipelineBody(storage: .file(File(url: file.url, writer: file, length: .measured(byteCount))))
    }

    /// The file that the pipeline has written, `nil` for every other body.
    var writtenFile: FileWriter? {
        guard case .file(let file) = storage else { return nil }
        return file.writer
    }

    /// A stream that can be read once.
    ///
    /// - Parameters:
    ///   - chunks: the bytes in pieces of any size.
    ///   - byteCount: how many bytes in all, `nil` when unknown.
    /// - Returns: a body that is not replayable.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        byteCount: Int? = nil
    ) -> PipelineBody where Chunks.Element == Data {
        PipelineBody(storage: .stream(StreamSource(byteCount: byteCount, isReplayable: false) { chunks }))
    }

    /// A stream that can be read again: each reading asks for a new sequence.
    ///
    /// - Parameters:
    ///   - byteCount: how many bytes in all, `nil` when unknown.
    ///   - makeChunks: the bytes from their beginning, in pieces of any size.
    /// - Returns: a body that is replayable.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        byteCount: Int? = nil,
        replaying makeChunks: @escaping @Sendable () -> Chunks
    ) -> PipelineBody where Chunks.Element == Data {
        PipelineBody(storage: .stream(StreamSource(byteCount: byteCount, isReplayable: true, makeChunks: makeChunks)))
    }

    /// A body with files of which nothing has been asked yet; a stream of unknown length until it is measured.
    static func unmeasured(
        _ chunks: MultipartChunks,
        measure: @escaping @Sendable () throws -> PipelineBody
    ) -> PipelineBody {
        let source = StreamSource(byteCount: nil, isReplayable: chunks.isReplayable, measure: measure) { chunks }
        return PipelineBody(storage: .stream(source))
    }

    /// The bytes when they are in memory (no bytes for no body), `nil` for a file or a stream.
    public var bytes: Data? {
        switch storage {
        case .absent: Data()
        case .bytes(let data): data
        case .file, .stream: nil
        }
    }

    /// How many bytes are in memory, `nil` for a file or a stream.
    var inMemoryByteCount: Int? {
        switch storage {
        case .absent: 0
        case .bytes(let data): data.count
        case .file, .stream: nil
        }
    }

    /// Where the file is, `nil` unless the body is one.
    public var fileURL: URL? {
        guard case .file(let file) = storage else { return nil }
        return file.url
    }

    var isFile: Bool {
        if case .file = storage { true } else { false }
    }

    /// Whether a file has to be asked for what is known of the body.
    var isUnmeasured: Bool {
        switch storage {
        case .absent, .bytes: false
        case .file(let file): if case .unmeasured = file.length { true } else { false }
        case .stream(let source): source.measure != nil
        }
    }

    /// The same body with its files as they are now: they can be read, and have this length.
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

    /// The length, without a wait in the cooperative pool.
    private func knownByteCount() async throws -> Int? {
        guard case .file(let file) = storage, case .unmeasured = file.length else { return byteCount }
        return try await FileLane().run { Self.byteCount(of: file.url) }
    }

    /// Whether there is no body at all; a body of zero bytes is one.
    public var isAbsent: Bool {
        guard case .absent = storage else { return false }
        return true
    }

    /// The length in bytes; `nil` for a stream of unknown length, a file that cannot be read, and a file that has content but a length of
    /// 0, as those under `/proc` have.
    ///
    /// The file of a request has been measured before plugins and transports see it, and so has that of a download. For any other file
    /// the file system is asked each time, and the calling thread waits for it.
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

    /// Whether the body can be read once only and somebody has begun to.
    public var isConsumed: Bool {
        guard case .stream(let source) = storage else { return false }
        return source.isConsumed
    }

    /// The bytes in pieces, from the beginning.
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
    /// - Parameter limit: the most bytes that are accepted.
    /// - Returns: all bytes.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/limit(_:)`` when there are more,
    ///   ``PipelineError/Code-swift.struct/bodyConsumed`` when the body was read before,
    ///   ``PipelineError/Code-swift.struct/truncated`` when there are fewer than the stream's length, `CancellationError`, and what
    ///   the stream throws.
    public func collect(upTo limit: Int) async throws -> Data {
        try await collect(upTo: limit, onProgress: { _ in })
    }

    /// Reads the whole body into memory and tells how much there is after each piece.
    func collect(upTo limit: Int, onProgress: (Int) -> Void) async throws -> Data {
        if let byteCount = try await knownByteCount(), byteCount > limit { throw Self.tooLarge(limit) }
        if let bytes { return bytes }
        var collected = Data()
        for try await chunk in chunks() {
            guard collected.count + chunk.count <= limit else { throw Self.tooLarge(limit) }
            collected.append(chunk)
            onProgress(collected.count)
        }
        try requireWhole(collected.count)
        return collected
    }

    /// Refuses to take a stream for whole that a cancellation has ended, or that is shorter than was announced.
    func requireWhole(_ count: Int) throws {
        try Self.requireWhole(count, of: announcedByteCount)
    }

    /// How long a stream is said to be; `nil` for all else, which is there.
    var announcedByteCount: Int? {
        guard case .stream(let source) = storage else { return nil }
        return source.byteCount
    }

    static func requireWhole(_ count: Int, of announced: Int?) throws {
        try Task.checkCancellation()
        guard let announced, announced > count else { return }
        throw PipelineError(.truncated, "\(count) of \(announced) bytes arrived")
    }

    private static func tooLarge(_ limit: Int) -> PipelineError {
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
    /// Stop reading and drop the iterator, and the exchange behind the body is closed.
    public struct Chunks: AsyncSequence, Sendable {
        /// A piece.
        public typealias Element = Data

        typealias Next = () async throws -> Data?

        private let makeNext: @Sendable () throws -> Next

        init(makeNext: @escaping @Sendable () throws -> Next) {
            self.makeNext = makeNext
        }

        /// Starts reading.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(makeNext: makeNext)
        }

        /// Reads piece by piece.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private let makeNext: @Sendable () throws -> Next
            private var upstream: Next?

            init(makeNext: @escaping @Sendable () throws -> Next) {
                self.makeNext = makeNext
            }

            /// The next piece, `nil` at the end.
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
        /// Makes the body whose files have been measured; `nil` if that is this one.
        let measure: (@Sendable () throws -> PipelineBody)?
        private let isTaken = Atomic(false)
        private let make: @Sendable () -> Chunks.Next

        init<Upstream: AsyncSequence & Sendable>(
            byteCount: Int?,
            isReplayable: Bool,
            measure: (@Sendable () throws -> PipelineBody)? = nil,
            makeChunks: @escaping @Sendable () -> Upstream
        ) where Upstream.Element == Data {
            self.byteCount = byteCount
            self.isReplayable = isReplayable
            self.measure = measure
            self.make = {
                var iterator = makeChunks().makeAsyncIterator()
                return { try await iterator.next(isolation: #isolation) }
            }
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
