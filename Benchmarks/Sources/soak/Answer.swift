import Foundation

/// What a server says to a request, and how it fails to.
struct Answer: Sendable {
    enum Framing: Sendable {
        case length
        case chunked
        /// The body ends with the connection.
        case close
        /// No body, whatever Content-Length says.
        case none
    }

    enum Fault: Sendable {
        case none
        /// Ends after half of the body.
        case truncated
        /// Is reset after half of the body.
        case reset
        /// Ends before the first byte.
        case empty
        /// Is not HTTP, in one of three ways.
        case malformed(Int)
    }

    static let cookies = ["a=1; Path=/", "b=2; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "c=3; HttpOnly"]
    static let dripCount = 10

    private(set) var status = 200
    private(set) var fields: [(name: String, value: String)] = []
    private(set) var body = Data()
    private(set) var framing = Framing.length
    private(set) var fault = Fault.none
    /// The wait before it begins.
    private(set) var delay: Int = 0
    /// The wait between its pieces.
    private(set) var pause: Int?

    /// - Parameters:
    ///   - plan: what the call is about.
    ///   - attempt: which attempt of the client this is, from 1.
    ///   - hop: how many redirects led here.
    ///   - sent: the body of the request, and its content coding.
    ///   - payload: the bodies.
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

    /// The body in pieces: ten when it drips, else three.
    var pieces: [Data] {
        let size = max(1, body.count / (pause == nil ? 3 : Self.dripCount))
        return stride(from: 0, to: body.count, by: size).map { body[$0..<min($0 + size, body.count)] }
    }
}
