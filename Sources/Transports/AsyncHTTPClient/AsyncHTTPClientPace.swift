#if AsyncHTTPClient
import NIOCore

/// Keeps the making of a body from running ahead of the event loop that writes it.
///
/// AsyncHTTPClient asks for the next piece once it has queued the last one for the event loop, and stops only when the event loop, having
/// come to it, finds that the network takes no more. On a busy machine hundreds of pieces wait in that queue by then.
struct AsyncHTTPClientPace {
    /// The most pieces that are made while the event loop does not come to the first of them.
    private static let pieceCount = 16

    private struct Piece {
        /// `nil` when the network has taken it.
        weak var storage: AnyObject?
    }

    private let eventLoops: any EventLoopGroup
    private var pieces: [Piece] = []
    private var oldest = 0

    /// - Parameter eventLoops: those of the client; which of them writes is not known.
    init(_ eventLoops: any EventLoopGroup) { self.eventLoops = eventLoops }

    /// Notes a piece that will be sent, and waits when those before it may still be in the queue.
    mutating func add(_ buffer: ByteBuffer) async {
        let storage = buffer.withUnsafeReadableBytesWithStorageManagement { $1.takeUnretainedValue() }
        guard pieces.count == Self.pieceCount else { return pieces.append(Piece(storage: storage)) }
        if pieces[oldest].storage != nil {
            // What was queued before this comes before it; a piece that is still held has been written by then, and AsyncHTTPClient waits.
            for eventLoop in eventLoops.makeIterator() { try? await eventLoop.submit {}.get() }
        }
        pieces[oldest].storage = storage
        oldest = (oldest + 1) % Self.pieceCount
    }
}
#endif
