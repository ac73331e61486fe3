import Foundation
package import HTTPTypes
package import PipelineCore

extension RecordingRedaction {
    /// Returns the values of the secret fields and query items of a request and of the cookies of its response.
    ///
    /// Hosts, paths, URLs, dates, plain words and short numbers are left out.
    package func secrets(of request: PipelineRequest, response: HTTPFields = [:]) -> RecordedSecrets {
        let values = values(of: request, response: response, minimumByteCount: RecordedSecrets.reportedByteCount)
        return RecordedSecrets(
            values: values.filter { !PlainValue.isPlain($0.key, isCookie: $0.value.kind == .cookie) },
            host: request.host
        )
    }

    /// Returns the values of the secret fields and query items of a recorded request and of the cookies of its
    /// response.
    func secrets(of exchange: RecordedExchange) -> RecordedSecrets {
        secrets(of: PipelineRequest(exchange.request), response: exchange.response?.headers ?? [:])
    }

    /// Returns a redaction for displayed text.
    ///
    /// It also hides the short secrets of requests and those that are words.
    func hidingAll(of requests: [PipelineRequest]) -> RecordingRedaction {
        let values = requests.reduce(into: Set<String>()) { values, request in
            values.formUnion(self.values(of: request, minimumByteCount: Self.shownByteCount).keys)
        }
        return adding(secretValues: values.filter { !PlainValue.isPlace($0) && !PlainValue.isDate($0) })
    }

    private func values(
        of request: PipelineRequest,
        response: HTTPFields = [:],
        minimumByteCount count: Int
    ) -> [String: SecretOrigin] {
        if revealsSecrets { return [:] }
        var secrets = MessageSecrets(redactor, minimumByteCount: count)
        secrets.insert(request.head, queryNames: request.secretQueryNames, isMarked: request.isSecret)
        secrets.insert(formIn: request.body.bytes, contentType: request.headers[.contentType])
        secrets.insert(cookiesOf: response)
        return secrets.origins.filter { value, _ in
            !value.contains(Self.placeholder) && !HARVocabulary.contains(value)
        }
    }

    /// The minimum length of a declared value, in bytes.
    private static let shownByteCount = 4

    // MARK: Searching

    /// Searches a written file for secret values.
    ///
    /// - Parameters:
    ///   - file: the HAR file.
    ///   - secrets: the secrets that its exchanges have in their own places.
    /// - Returns: an error with code `recording.secret` if it still contains a secret value, otherwise `nil`; and one
    ///   warning for each short value in it that is probably not secret, because it does not mix digits and letters.
    /// - Throws: `.recording(.notWritten)` if the file cannot be read.
    func findings(in file: URL, _ secrets: RecordedSecrets) throws -> (error: PipelineError?, warnings: [String]) {
        let name = file.lastPathComponent.quotedExcerpt
        guard let written = try? Data(contentsOf: file, options: .mappedIfSafe) else {
            throw PipelineError(.recording(.notWritten), "the file \(name) cannot be read after it was written")
        }
        func texts(_ left: [LeftSecret]) -> [String] {
            left.map { "\($0.source(self)) is left in " + ($0.place.isEmpty ? "" : $0.place + " of ") + name }
        }
        var long = left(in: written, file, among: secrets.replaced, secrets)
        if long.isEmpty, containsSecret(in: written) { long = [declared(in: file)] }
        if !long.isEmpty {
            let places = texts(long).joined(separator: "; ")
            let reason = "\(places), where it cannot be replaced; remove it by hand"
            return (PipelineError(.recording(.secret), reason), [])
        }
        let short = left(in: written, file, among: secrets.reported, secrets)
        let secret = texts(short.filter(\.looksGenerated)).prefix(Self.listedCount).joined(separator: "; ")
        let error = PipelineError(
            .recording(.secret),
            "\(secret), and has \(RecordedSecrets.reportedByteCount) to \(RecordedSecrets.replacedByteCount - 1) bytes, "
                + "too few to be replaced everywhere; declare it with Redactor(secretValues:) or --secret or, if it is "
                + "not secret, its name with adding(plainNames:) or --plain"
        )
        let warnings = texts(short.filter { !$0.looksGenerated }).map {
            $0
                + ", and may be a secret; declare it with Redactor(secretValues:) or --secret or, if it is not, its name "
                + "with adding(plainNames:) or --plain"
        }
        return (secret.isEmpty ? nil : error, warnings)
    }

    /// The number of values that an error lists.
    private static let listedCount = 5

    private func left(
        in written: Data,
        _ file: URL,
        among values: Set<String>,
        _ secrets: RecordedSecrets
    ) -> [LeftSecret] {
        let none = RecordingRedaction(Redactor(secretNames: []))
        let found = LeftSecret.found(among: values.sorted()) {
            none.adding(secretValues: $0).containsSecret(in: written)
        }
        return found.map { value in
            LeftSecret(
                value: value,
                origin: secrets.origin(of: value),
                places: none.adding(secretValues: [value]).places(in: file)
            )
        }
    }

    private func declared(in file: URL) -> LeftSecret { LeftSecret(value: "", origin: nil, places: places(in: file)) }

    /// Returns the first entries that contain a declared value.
    private func places(in file: URL) -> [(entry: Int, member: String)] {
        guard let har = try? HARFile(contentsOf: file) else { return [] }
        let found = (0..<har.count).lazy.compactMap { index -> (Int, String)? in
            guard let entry = try? har.entry(at: index) else { return nil }
            return path(in: entry.json).map { (index, $0) }
        }
        return found.prefix(LeftSecret.maximumCount).map { ($0.0, $0.1) }
    }

    /// Returns the first member that contains a declared value.
    func path(in entry: JSONNode) -> String? {
        guard containsSecret(in: entry.data()) else { return nil }
        return entry.path { containsSecret(in: $0.utf8) } ?? "its members"
    }
}
