/// Signals an event to a test, which may start to wait before or after it.
struct Signal: Sendable {
    private let events: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (events, continuation) = AsyncStream.makeStream() }

    func send() { continuation.yield() }

    func wait() async {
        for await _ in events { return }
    }
}
