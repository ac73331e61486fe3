public import Foundation
public import PipelineCore

extension EventsPlugin {
    /// Something that happened in a call, as ``EventsPlugin`` reports it.
    public struct Event: Sendable, Identifiable {
        /// A part of a call.
        public enum Kind: Sendable {
            /// The call began, with the request as the plugin got it.
            case began(PipelineRequest)
            /// An exchange has ended; in a streamed call, its header fields have arrived.
            case exchange(PipelineExchange)
            /// The call has ended; nothing follows.
            case finished(Stage.Outcome)
        }

        /// The number of the event, from 1.
        ///
        /// If a number is missing, the reader was too slow, and the event was dropped.
        public let id: Int
        /// The part of the call that the event is about.
        public let kind: Kind
        /// The number of the call, as in `PipelineContext.callID`.
        ///
        /// Calls of different providers may have the same number.
        public let callID: Int
        /// The call that began this one in the background; `nil` for other calls.
        public let parentID: Int?
        /// The target of the call.
        public let target: any TargetType
        /// When it happened, on the clock of the provider.
        public let date: Date
    }
}
