#if AsyncHTTPClient
import NIOCore

/// A brake that keeps the producer of a body from running ahead of the event loop that writes it.
///
/// AsyncHTTPClient requests the next piece as soon as it has queued the last one for the event loop. It pauses only
/// when the event loop reaches that piece and finds that the network accepts no more. On a busy machine, hundreds of
/// pieces are queued by then.
struct AsyncHTTPClientSendWindow {
    /// The most pieces that are produced before the event loop reaches the first of them.
    private static let pieceCount = 16

    private struct Piece {
        /// `nil` once the network has taken the piece.
        weak var storage: AnyObject?
    }

    private let eventLoops: any EventLoopGroup
    private var pieces: [Piece] = []
    private var oldest = 0

    /// - Parameter eventLoops: the event loops of the client; which of them writes is not known.
    init(_ eventLoops: any EventLoopGroup) { self.eventLoops = eventLoops }

    /// Notes a piece that will be sent, and waits if earlier pieces may still be queued.
    mutating func add(_ buffer: ByteBuffer) async {
        let storage = buffer.withUnsafeReadableBytesWithStorageManagement { $1.takeUnretainedValue() }
        guard pieces.count == Self.pieceCount else { return pieces.append(Piece(storage: storage)) }
        if pieces[oldest].storage != nil {
            // The loops run tasks in order. A piece that is still held has been written by then, and AsyncHTTPClient
            // waits.
            for eventLoop in eventLoops.makeIterator() { try? await eventLoop.submit {}.get() }
        }
        pieces[oldest].storage = storage
        oldest = (oldest + 1) % Self.pieceCount
    }
}
#endif
