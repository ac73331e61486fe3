import HTTPTypes
import Pipeline
import PipelineStores

/// The stored response from which the latest response of a call comes, or that it becomes when its body has been read.
///
/// A cache sets it for bodies in a content coding, whose damage appears only when a plugin outside decodes them.
struct StoredCopy: Sendable {
    let plugin: CachePlugin
    let entry: CacheEntry
    let resource: String?

    /// Removes the stored response if an error shows that its body cannot be decoded.
    func removeIfDamaged(_ error: any Error, _ context: PipelineContext) async {
        guard let code = (error as? PipelineError)?.code, Self.isDamage(code) else { return }
        await plugin.remove(entry, of: resource, context)
    }

    private static func isDamage(_ code: PipelineError.Code) -> Bool {
        switch code {
        case .contentCoding(.decoder): false
        case .contentCoding, .limit(.decodedBytes), .limit(.codings): true
        default: false
        }
    }
}

extension PipelineContext {
    /// The stored response from which the latest response of the call comes, if that has a content coding.
    var storedCopy: StoredCopy? { self[StoredCopyKey.self] }

    /// Notes where a response comes from, or is stored.
    func noteStoredCopy(_ copy: StoredCopy?, of headers: HTTPFields) {
        guard headers.contains(.contentEncoding) else { return }
        update(StoredCopyKey.self) { $0 = copy }
    }
}

private enum StoredCopyKey: PipelineContextKey {
    static let defaultValue: StoredCopy? = nil
}
