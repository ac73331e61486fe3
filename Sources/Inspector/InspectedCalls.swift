import Foundation
import HTTPTypes
import PipelineCore
import PipelineRecording
import Synchronization

/// The latest calls of an inspector, without secrets.
final class InspectedCalls: Sendable {
    private struct Kept {
        var call: InspectedCall
        /// The texts of a call that has ended.
        var json: InspectedCall.Texts?
        /// The number of the latest change.
        var version: Int

        var texts: InspectedCall.Texts { json ?? call.texts }
    }

    private struct State {
        var calls: [Int: Kept] = [:]
        var lastID = 0
        /// The number of the oldest call that is kept.
        var firstID = 1
        /// Counts the changes.
        var version = 0
        /// The size of the texts of calls that have ended.
        var byteCount = 0
        /// The latest calls that were dropped, with the version in which that happened.
        var dropped: [(version: Int, id: Int)] = []
        /// The last version before the first of `dropped`.
        var droppedSince = 0
        var secrets = RecordedSecrets()
        /// The values that were new as secrets, with the version in which they came.
        var newSecrets: [(version: Int, value: String)] = []

        /// Adds the secrets of an exchange; forgets the others if there are too many.
        mutating func add(_ own: RecordedSecrets) {
            let new = own.replaced.subtracting(secrets.replaced)
            guard !new.isEmpty else { return secrets.formUnion(own) }
            if secrets.count > InspectedCalls.maximumSecretCount {
                secrets = RecordedSecrets()
                newSecrets = []
            }
            secrets.formUnion(own)
            version += 1
            newSecrets += new.map { (version, $0) }
        }
    }

    /// Calls that go on send their credentials in each exchange, so that a bound forgets only those of the past.
    private static let maximumSecretCount = 256

    /// The name of the program and, in an app, its version.
    private static let program =
        ([ProcessInfo.processInfo.processName, Bundle.main.infoDictionary?["CFBundleShortVersionString"] as? String]
        .compactMap(\.self)).joined(separator: " ")

    private let redaction: RecordingRedaction
    private let maximumCount: Int
    private let maximumByteCount: Int
    private let state = Mutex(State())

    init(_ redaction: RecordingRedaction, maximumCount: Int, byteCount: Int) {
        self.redaction = redaction
        self.maximumCount = maximumCount
        maximumByteCount = byteCount
    }

    /// Returns a redaction that also hides the secrets of the calls so far.
    ///
    /// - Parameters:
    ///   - request: the request of an exchange, whose secrets are added to them.
    ///   - response: the header fields of its response.
    /// - Returns: the redaction.
    func redaction(for request: PipelineRequest? = nil, _ response: HTTPFields = [:]) -> RecordingRedaction {
        let own = request.map { redaction.secrets(of: $0, response: response) }
        let values = state.withLock { state in
            if let own { state.add(own) }
            return state.secrets.replaced
        }
        return redaction.adding(secretValues: values)
    }

    // MARK: Changes

    /// The number of changes so far.
    var version: Int { state.withLock { $0.version } }

    /// Adds a call and returns its number.
    func begin(_ call: InspectedCall) -> Int {
        state.withLock { state in
            state.lastID += 1
            state.version += 1
            var call = call
            call.id = state.lastID
            state.calls[call.id] = Kept(call: call, version: state.version)
            dropOldest(&state)
            return call.id
        }
    }

    /// Changes a call that has not ended; does nothing if it is no longer kept.
    func change(_ id: Int, _ change: (inout InspectedCall) -> Void) {
        state.withLock { state in
            guard var kept = state.calls.removeValue(forKey: id) else { return }
            if kept.json == nil {
                state.version += 1
                kept.version = state.version
                change(&kept.call)
            }
            state.calls[id] = kept
        }
    }

    /// Ends a call; only its texts are kept after that.
    func end(_ id: Int, _ outcome: InspectedOutcome) {
        while let kept = state.withLock({ $0.calls[id] }), kept.json == nil {
            var call = kept.call
            call.end(outcome)
            let texts = call.texts
            call.releaseParts()
            let hasEnded = state.withLock { state in
                // An exchange may have ended in the meantime.
                guard state.calls[id]?.version == kept.version else { return false }
                state.version += 1
                state.byteCount += texts.byteCount
                state.calls[id] = Kept(call: call, json: texts, version: state.version)
                dropOldest(&state)
                return true
            }
            if hasEnded { return }
        }
    }

    private func dropOldest(_ state: inout State) {
        while state.calls.count > maximumCount || state.byteCount > maximumByteCount && state.calls.count > 1 {
            if let kept = state.calls.removeValue(forKey: state.firstID) {
                state.byteCount -= kept.json?.byteCount ?? 0
                state.dropped.append((state.version, state.firstID))
            }
            state.firstID += 1
        }
        if state.dropped.count > 2 * maximumCount {
            state.droppedSince = state.dropped[maximumCount - 1].version
            state.dropped.removeFirst(maximumCount)
        }
    }

    // MARK: Document

    /// Returns the calls as a HAR document.
    ///
    /// - Parameters:
    ///   - known: the version that the reader has; `nil` for all calls. A reader that is too far behind gets all calls.
    ///   - isLive: whether the page asks for changes.
    /// - Returns: JSON.
    func document(after known: Int? = nil, isLive: Bool) -> Data {
        let state = state.withLock { $0 }
        let known = known.flatMap { $0 < state.droppedSince || $0 > state.version ? nil : $0 }
        // Values that have become secrets since then may be in texts that the reader has.
        let newSecrets = known.map { known in state.newSecrets.filter { $0.version > known }.map(\.value) } ?? []
        let search = newSecrets.isEmpty ? nil : redaction.adding(secretValues: Set(newSecrets))
        let texts = state.calls.sorted { $0.key < $1.key }.map(\.value).filter { kept in
            kept.version > known ?? 0 || search.map { kept.texts.contain($0) } == true
        }.map(\.texts)
        let all = redaction.adding(secretValues: texts.isEmpty ? [] : state.secrets.replaced)
        let checked = texts.map { $0.redacted(all) }
        let removed = known.map { known in state.dropped.filter { $0.version > known }.map(\.id) }
        let facts = JSONNode.object([
            "program": .string(Self.program),
            "live": .bool(isLive),
            "version": .integer(state.version),
            "droppedCalls": .integer(state.lastID - state.calls.count),
            // Without this member, the document replaces all that the reader has.
            "removed": removed.map { .array($0.map(JSONNode.integer)) },
        ])
        var document = Data(#"{"log":{"version":"1.2","creator":{"name":"Pipeline","version":"1"},"entries":["#.utf8)
        document.append(Data(checked.flatMap(\.entries).joined(separator: ",".utf8)))
        document.append(contentsOf: #"],"_pipeline":{"calls":["#.utf8)
        document.append(Data(checked.map(\.call).joined(separator: ",".utf8)))
        document.append(contentsOf: "],".utf8)
        document.append(facts.data().dropFirst())
        document.append(contentsOf: "}}".utf8)
        return document
    }
}
