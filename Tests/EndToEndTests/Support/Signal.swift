/// Tells of an event that a test waits for; it may come before or after.
struct Signal: Sendable {
    private let events: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (events, continuation) = AsyncStream.makeStream() }

    func send() { continuation.yield() }

    func wait() async {
        for await _ in events { return }
    }
}
