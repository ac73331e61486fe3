import Foundation

/// The result of a call, as it is written.
struct Result: Encodable, Sendable {
    var outcome: String
    var status: Int?
    var bytes: Int?
    var sha256: String?
    var fields: [String: String]?
    var events: [String]?
    var error: String?
    var ms: Int

    init(_ result: Swift.Result<Value, any Error>, milliseconds: Int) {
        ms = milliseconds
        switch result {
        case .success(let value):
            (outcome, status, events) = ("value", value.status, value.events)
            guard value.events == nil else { return }
            (bytes, fields) = (value.body.count, value.fields)
            sha256 = SHA256.hash([UInt8](value.body)).map { String(format: "%02x", $0) }.joined()
        case .failure(let problem):
            outcome = "error"
            error = String("\(type(of: problem)): \(problem)".prefix(300))
        }
    }
}
