import Foundation
import Pipeline

/// The actual or predicted end of a call.
struct Outcome: Hashable, Sendable, CustomStringConvertible {
    enum Kind: Hashable, Sendable {
        case response(status: Int, Digest, cookies: [String])
        case failure(PipelineError.Code)
        case cancelled
        /// An error of a type that no call may throw.
        case other(String)
    }

    let kind: Kind
    /// The number of exchanges; `nil` if it cannot be known.
    let exchangeCount: Int?
    /// The details of an error besides its code, which are not compared.
    let note: String

    init(_ kind: Kind, exchangeCount: Int? = nil, note: String = "") {
        self.kind = kind
        self.exchangeCount = exchangeCount
        self.note = note
    }

    init(_ response: PipelineResponse, _ digest: Digest) {
        let cookies = response.headers[values: .setCookie]
        let kind = Kind.response(status: response.statusCode, digest, cookies: cookies)
        self.init(kind, exchangeCount: response.exchanges.count)
    }

    init(thrown error: any Error) {
        switch error {
        case is CancellationError: self.init(.cancelled)
        case let error as PipelineError:
            let note = "\(error)" + (error.underlyingError.map { "; \($0)" } ?? "")
            self.init(.failure(error.code), exchangeCount: error.exchanges.count, note: note)
        default: self.init(.other("\(type(of: error))"))
        }
    }

    /// Returns whether this outcome was predicted.
    func matches(_ predicted: Outcome) -> Bool {
        guard kind == predicted.kind else { return false }
        guard let expected = predicted.exchangeCount, let exchangeCount else { return true }
        return exchangeCount == expected
    }

    /// The name under which the outcome is counted.
    var label: String {
        switch kind {
        case .response(let status, _, _): "\(status)"
        case .failure(let code): code.rawValue
        case .cancelled: "CancellationError"
        case .other(let name): "thrown: \(name)"
        }
    }

    var description: String {
        let exchanges = exchangeCount.map { ", exchanges: \($0)" } ?? ""
        guard case .response(_, let digest, let cookies) = kind else {
            return "\(label)\(exchanges)\(note.isEmpty ? "" : " (\(note))")"
        }
        return "\(label), \(digest)\(cookies.isEmpty ? "" : ", cookies: \(cookies)")\(exchanges)"
    }
}
