public import PipelineCore

/// A plugin that limits how many bytes of bodies pass per second, up and down, for all calls together.
///
/// ```swift
/// let provider = Provider<Photos>(transport: transport, plugins: [.standard, TransferLimitPlugin(bytesPerSecond: 1 <<
/// 20)]) ```
///
/// **Effects**
///
/// - Bodies of requests and bodies of responses have a limit each. All calls share it, also those of other providers
///   that have a copy of the plugin: each piece of a body waits for its turn, in the order in which the pieces come.
/// - A body that is a file or a stream passes in pieces of at most a tenth of a second. A body of bytes in memory waits
///   once, before it is sent or after it has arrived: the network has then passed it at full speed. Streams and
///   downloads are never in memory.
/// - Header fields do not count, and a body without bytes does not wait.
/// - A request whose body can be sent again can still be sent again.
///
/// **Position**: inside the plugins that sign, compress or share requests, because it sees bodies as they are on the
/// wire; last in a stack. The time of a transfer counts towards the limits of its attempt: set the option
/// `attemptTimeout` of calls that take long at this rate.
///
/// **Errors**: none of its own.
public struct TransferLimitPlugin: Stage.Exchange {
    private let sent: TransferPace
    private let received: TransferPace

    /// Makes a plugin.
    ///
    /// - Parameter bytesPerSecond: the most bytes in each direction, 1 and up.
    public init(bytesPerSecond: Int) {
        precondition(bytesPerSecond > 0, "bytesPerSecond is \(bytesPerSecond), not 1 or more")
        sent = TransferPace(bytesPerSecond)
        received = TransferPace(bytesPerSecond)
    }

    /// Sends the request with bodies that keep to the limit.
    public func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        var request = request
        if request.body.bytes == nil {
            request.body = request.body.paced(by: sent, on: context.clock)
        } else {
            try await sent.pass(request.body.byteCount ?? 0, on: context.clock)
        }
        var response = try await send(request)
        if response.body.isStream {
            response.body = response.body.paced(by: received, on: context.clock)
        } else {
            try await received.pass(response.body.byteCount ?? 0, on: context.clock)
        }
        return response
    }
}
