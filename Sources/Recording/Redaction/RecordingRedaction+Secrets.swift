import Foundation
import HTTPTypes
import Pipeline

extension RecordingRedaction {
    /// Returns the values of the secret fields and query items of a request and of the cookies of its response.
    ///
    /// Hosts, paths, URLs, dates, plain words and short numbers are left out.
    func secrets(of request: PipelineRequest, response: HTTPFields = [:]) -> RecordedSecrets {
        let values = values(of: request, response: response, minimumByteCount: RecordedSecrets.reportedByteCount)
        return RecordedSecrets(values: values.filter { !PlainValue.isPlain($0) }, host: request.host)
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
            values.formUnion(self.values(of: request, minimumByteCount: Self.shownByteCount))
        }
        return adding(secretValues: values.filter { !PlainValue.isPlace($0) && !PlainValue.isDate($0) })
    }

    private func values(
        of request: PipelineRequest,
        response: HTTPFields = [:],
        minimumByteCount count: Int
    ) -> Set<String> {
        if revealsSecrets { return [] }
        var secrets = MessageSecrets(redactor, minimumByteCount: count)
        secrets.insert(request.head, queryNames: request.secretQueryNames, isMarked: request.isSecret)
        secrets.insert(formIn: request.body.bytes, contentType: request.headers[.contentType])
        secrets.insert(cookiesOf: response)
        return secrets.fieldValues.union(secrets.queryValues).filter {
            !$0.contains(Self.placeholder) && !HARVocabulary.contains($0)
        }
    }

    /// The minimum length of a declared value, in bytes.
    private static let shownByteCount = 4

    // MARK: Searching

    /// Returns an error if a written file still contains a secret value, otherwise `nil`.
    ///
    /// - Parameters:
    ///   - file: the HAR file.
    ///   - secrets: the secrets that its exchanges have in their own places.
    /// - Returns: an error with code `recording.secret`.
    /// - Throws: `.recording(.notWritten)` if the file cannot be read.
    func finding(in file: URL, _ secrets: RecordedSecrets) throws -> PipelineError? {
        let name = file.lastPathComponent.quotedExcerpt
        guard let written = try? Data(contentsOf: file, options: .mappedIfSafe) else {
            throw PipelineError(.recording(.notWritten), "the file \(name) cannot be read after it was written")
        }
        if containsSecret(in: written) || adding(secretValues: secrets.replaced).containsSecret(in: written) {
            let place = adding(secretValues: secrets.replaced).entries(of: file)
            return PipelineError(
                .recording(.secret),
                "a secret value is left in \(place)\(name), where it cannot be replaced; remove it by hand"
            )
        }
        let short = RecordingRedaction(Redactor(secretNames: [])).adding(secretValues: secrets.reported)
        guard short.containsSecret(in: written) else { return nil }
        return PipelineError(
            .recording(.secret),
            "a secret value of \(RecordedSecrets.reportedByteCount) to \(RecordedSecrets.replacedByteCount - 1) bytes is "
                + "too short to be replaced everywhere and is left in \(short.entries(of: file))\(name); to hide it, "
                + "declare it with Redactor(secretValues:) or --secret"
        )
    }

    /// Names the entries that contain a declared value.
    private func entries(of file: URL) -> String {
        guard let har = try? HARFile(contentsOf: file) else { return "" }
        let found = (0..<har.count).lazy.filter { index in
            (try? har.entry(at: index)).map { self.containsSecret(in: $0.json.data()) } == true
        }
        let shown = found.prefix(10).map { "\($0)" }
        return shown.isEmpty ? "" : "entries \(shown.joined(separator: ", ")) of "
    }
}
