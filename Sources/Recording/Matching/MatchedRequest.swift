import Foundation
import HTTPTypes
import PipelineCore

/// A redacted request in the form in which it is compared, with one value for each part.
struct MatchedRequest: Sendable {
    /// A fixed-size value that is equal if a part is equal.
    ///
    /// It consists of two keyed hashes and the length. Equal values have equal fingerprints; others collide with a
    /// probability of 1 in 2^128.
    struct Fingerprint: Hashable, Sendable {
        private let byteCount: Int
        private let first: Int
        private let second: Int

        init(_ value: Data) {
            func hash(_ seed: UInt8) -> Int {
                var hasher = Hasher()
                hasher.combine(seed)
                value.withUnsafeBytes { hasher.combine(bytes: $0) }
                return hasher.finalize()
            }
            byteCount = value.count
            first = hash(1)
            second = hash(2)
        }
    }

    /// The fingerprint of each part in order, except closures.
    struct Summary: Sendable {
        var fingerprints: [Fingerprint] = []
        /// One bit for each fingerprint whose part contains redacted text.
        var patterns: UInt64 = 0
    }

    let request: RecordedExchange.Request
    private let url: URLParts

    /// - Parameter request: the redacted request with a decoded body.
    init(_ request: RecordedExchange.Request) {
        self.request = request
        url = URLParts(request.url)
    }

    var path: String { url.path }

    /// Returns whether a part of a live and a recorded request is equal, except for what is redacted in one of them.
    func resembles(_ other: MatchedRequest, in kind: RequestMatching.Part.Kind) -> Bool {
        func isAlike(_ one: some Sequence<UInt8>, _ two: some Sequence<UInt8>, _ separators: String) -> Bool {
            RedactedPattern.areAlike(Array(one), Array(two), separators: Array(separators.utf8))
        }
        switch kind {
        case .path:
            return isAlike(url.path.utf8, other.url.path.utf8, "/")
        case .query(let inOrder, let names):
            let (mine, others) = (items(inOrder, without: names), other.items(inOrder, without: names))
            guard !inOrder else { return isAlike(Self.text(mine).utf8, Self.text(others).utf8, "=&") }
            return RedactedPattern.areAlike(mine.map(\.text), others.map(\.text), separators: Array("=".utf8))
        case .header(let name):
            let values = [self, other].map { $0.request.headers[values: name].joined(separator: "\n") }
            return isAlike(values[0].utf8, values[1].utf8, "\n")
        case .body(let form, let names):
            let values = [self, other].map { $0.body(form, ignoring: names, isMeasured: false) }
            if BodyValue.form(form, of: request.contentType) == .form {
                let items = values.map { String(decoding: $0, as: UTF8.self).components(separatedBy: "&") }
                return RedactedPattern.areAlike(items[0], items[1], separators: Array("=".utf8))
            }
            // The characters that end a text in JSON, in a form, in XML and in a line.
            if isAlike(values[0], values[1], "\"&<>\r\n") { return true }
            guard other.lacksPartsOfUpload(form), let mine = parts(form), let recorded = other.parts(form) else {
                return false
            }
            return mine.count == recorded.count
                && zip(mine, recorded).allSatisfy { part, recorded in
                    part.name == recorded.name
                        && (recorded.isFile && recorded.content.isEmpty
                            || isAlike(part.content, recorded.content, "\"&<>\r\n"))
                }
        case .method, .scheme, .host, .port, .custom:
            return value(of: kind) == other.value(of: kind)
        }
    }

    func summary(_ kinds: [RequestMatching.Part.Kind]) -> Summary {
        var summary = Summary()
        for kind in kinds {
            guard let value = value(of: kind) else { continue }
            if RedactedPattern.isPattern(value) || lacksPartsOfUpload(kind) {
                summary.patterns |= 1 << UInt64(summary.fingerprints.count)
            }
            summary.fingerprints.append(Fingerprint(value))
        }
        return summary
    }

    /// Returns the value that is compared, or `nil` for a closure.
    private func value(of kind: RequestMatching.Part.Kind) -> Data? {
        switch kind {
        case .method: Data(request.method.utf8)
        case .scheme: Data(url.scheme.utf8)
        case .host: Data(url.host.utf8)
        case .port: Data(url.port.utf8)
        case .path: Data(url.path.utf8)
        case .query(let inOrder, let names): Data(Self.text(items(inOrder, without: names)).utf8)
        case .header(let name): Data(request.headers[values: name].map { "\($0.utf8.count):\($0)" }.joined().utf8)
        case .body(let form, let names): body(form, ignoring: names, isMeasured: true)
        case .custom: nil
        }
    }

    /// Returns the body in the form in which it is compared.
    func body(_ form: RequestMatching.BodyForm, ignoring names: Set<String>, isMeasured: Bool) -> Data {
        BodyValue.value(
            of: request.body ?? Data(),
            type: request.contentType,
            form,
            ignoring: names,
            isMeasured: isMeasured
        )
    }

    private func parts(_ form: RequestMatching.BodyForm) -> [BodyValue.Part]? {
        BodyValue.parts(of: request.body ?? Data(), type: request.contentType, form)
    }

    /// Returns whether the request is an upload of which a recording may lack the heads of parts or the files.
    private func lacksPartsOfUpload(_ form: RequestMatching.BodyForm) -> Bool {
        request.isFromParameters || parts(form)?.contains { $0.isFile && $0.content.isEmpty } == true
    }

    private func lacksPartsOfUpload(_ kind: RequestMatching.Part.Kind) -> Bool {
        guard case .body(let form, _) = kind else { return false }
        return lacksPartsOfUpload(form)
    }

    /// Returns the value as an error shows it, except for bodies; see ``BodyMismatch``.
    func shown(_ kind: RequestMatching.Part.Kind) -> String {
        switch kind {
        case .method: request.method
        case .scheme: url.scheme
        case .host: url.host
        case .port: url.port
        case .path: url.path
        case .query(let inOrder, let names): Self.text(items(inOrder, without: names))
        case .header(let name):
            request.headers.contains(name) ? request.headers[values: name].joined(separator: ", ") : "none"
        case .body, .custom: ""
        }
    }

    /// Returns the decoded names of the query items that only one of two requests has, sorted.
    func namesOfDifferingItems(from other: MatchedRequest, without names: Set<String>) -> [String] {
        let (mine, others) = (items(false, without: names), other.items(false, without: names))
        return Set(
            others.difference(from: mine).map { change in
                switch change {
                case .insert(_, let item, _), .remove(_, let item, _): item.name.removingPercentEncoding ?? item.name
                }
            }
        )
        .sorted()
    }

    private func items(_ inOrder: Bool, without names: Set<String>) -> [URLParts.Item] {
        let items = URLParts.removing(names, from: url.query)
        return inOrder ? items : items.sorted()
    }

    private static func text(_ items: [URLParts.Item]) -> String {
        items.map(\.text).joined(separator: "&")
    }
}

extension RequestMatching.Part.Kind {
    var name: String {
        switch self {
        case .method: "method"
        case .scheme: "scheme"
        case .host: "host"
        case .port: "port"
        case .path: "path"
        case .query: "query"
        case .header(let name): name.rawName
        case .body: "body"
        case .custom(let name, _, _): name
        }
    }

    var readsBody: Bool {
        switch self {
        case .body: true
        case .custom(_, let readsBody, _): readsBody
        default: false
        }
    }

    /// Returns whether another part compares the same part of a request, in any way.
    func isSamePart(as other: Self) -> Bool {
        switch (self, other) {
        case (.method, .method), (.scheme, .scheme), (.host, .host), (.port, .port), (.path, .path), (.query, .query),
            (.body, .body):
            true
        case (.header(let name), .header(let other)): name == other
        case (.custom(let name, _, _), .custom(let other, _, _)): name == other
        default: false
        }
    }

    /// Returns whether a closure finds two requests equal; `true` for every other kind.
    func closureAccepts(_ live: MatchedRequest, _ recorded: MatchedRequest) -> Bool {
        guard case .custom(_, _, let isEqual) = self else { return true }
        return isEqual(RequestMatching.Request(live.request), RequestMatching.Request(recorded.request))
    }

    var isClosure: Bool {
        if case .custom = self { true } else { false }
    }
}

extension RequestMatching.Request {
    init(_ request: RecordedExchange.Request) {
        method = request.method
        url = request.url
        headers = request.headers
        body = request.body ?? Data()
    }
}
