import Foundation

/// The response of a server to a request, with the way in which it fails.
struct Answer: Sendable {
    enum Framing: Sendable {
        case length
        case chunked
        /// The body ends with the connection.
        case close
        /// The response has no body, regardless of Content-Length.
        case none
    }

    enum Fault: Sendable {
        case none
        /// The connection ends after half of the body.
        case truncated
        /// The connection is reset after half of the body.
        case reset
        /// The connection ends before the first byte.
        case empty
        /// The response is not valid HTTP, in one of three ways.
        case malformed(Int)
    }

    static let cookies = ["a=1; Path=/", "b=2; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "c=3; HttpOnly"]
    static let dripCount = 10

    private(set) var status = 200
    private(set) var fields: [(name: String, value: String)] = []
    private(set) var body = Data()
    private(set) var framing = Framing.length
    private(set) var fault = Fault.none
    /// The wait before the response, in milliseconds.
    private(set) var delay: Int = 0
    /// The wait before each piece of the body, in milliseconds.
    private(set) var pause: Int?

    /// - Parameters:
    ///   - plan: the plan of the call.
    ///   - attempt: the number of the client's attempt, starting at 1.
    ///   - hop: the number of redirects that led to this request.
    ///   - sent: the body of the request and its content coding.
    ///   - payload: the bodies of the run.
    init(to plan: Plan, attempt: Int, hop: Int, sent: (body: Data, coding: String?), payload: Payload) {
        body = payload.bodies[plan.variant].data
        if plan.isHealed(at: attempt) { return }
        switch plan.behaviour {
        case .plain: break
        case .chunked: framing = .chunked
        case .closeDelimited: framing = .close
        case .gzip:
            body = payload.bodies[plan.variant].gzip
            fields = [("Content-Encoding", "gzip")]
        case .unavailable: (status, fields) = (503, [("Retry-After", "0")])
        case .unauthorized: (status, fields) = (401, [("WWW-Authenticate", "Basic realm=\"soak\"")])
        case .redirected where hop == 0: (status, fields) = (302, [("Location", "/\(plan.subject)/1")])
        case .movedEcho where hop == 0: (status, fields) = (307, [("Location", "/\(plan.subject)/1")])
        case .redirected: break
        case .truncated, .streamedTruncated: (body, fault) = (payload.bodies[7].data, .truncated)
        case .reset: (body, fault) = (payload.bodies[5].data, .reset)
        case .stalled: delay = 200
        case .empty: fault = .empty
        case .malformed: fault = .malformed(plan.variant % 3)
        case .head: framing = .none
        case .noContent: (status, framing) = (204, .none)
        case .notModified: (status, framing) = (304, .none)
        case .drip: (framing, pause) = (.chunked, 5)
        case .large, .streamed, .dropped: body = payload.large
        case .echo, .movedEcho:
            body = sent.body
            if let coding = sent.coding { fields = [("Content-Encoding", coding)] }
        case .cookies: fields = Self.cookies.map { ("Set-Cookie", $0) }
        }
    }

    /// The body in pieces: ten if there is a pause before each piece, otherwise three.
    var pieces: [Data] {
        let size = max(1, body.count / (pause == nil ? 3 : Self.dripCount))
        return stride(from: 0, to: body.count, by: size).map { body[$0..<min($0 + size, body.count)] }
    }
}
