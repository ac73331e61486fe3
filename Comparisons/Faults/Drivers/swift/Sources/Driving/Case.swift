package import Foundation

/// A case, as a line of standard input describes it.
package struct Case: Decodable, Sendable {
    /// What the client of the case must be set to.
    package struct Settings: Decodable, Sendable {
        package var proxy: String?
        package var connections: Int?
    }

    package var id: String
    package var needs: Set<String> = []
    package var client = Settings()
    /// The path of the only certificate authority to trust.
    package var authority: String?
    package var steps: [[Call]] = []

    /// Returns whether the driver must turn on a feature.
    package func needs(_ feature: String) -> Bool { needs.contains(feature) }
}

/// A call of a case.
package struct Call: Decodable, Sendable {
    package var method = "GET"
    package var url: String
    package var fields: [[String]] = []
    package var body: String?
    /// Milliseconds, like `cancel`, `wait` and `for`.
    package var deadline: Int?
    package var cancel: Int?
    package var wait: Int?
    package var read: [String]?
    package var events: Int?
    package var `for`: Int?

    /// A call of the driver's own, without fields and body.
    package init(url: String, deadline: Int? = nil) {
        self.url = url
        self.deadline = deadline
    }

    /// The body, of which each character is a byte.
    package var data: Data? { body.map { Data($0.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }) } }
}

/// What a call returned.
package struct Value: Sendable {
    var status: Int
    var body: Data
    var fields: [String: String]
    var events: [String]?

    /// Makes the value of a response.
    ///
    /// - Parameters:
    ///   - status: the status code.
    ///   - body: the whole body, after content decoding.
    ///   - call: the call, for the names of the fields to report.
    ///   - field: returns the value of a response field, or `nil` if the response does not have it.
    package init(status: Int, body: Data, of call: Call, field: (String) -> String?) {
        self.status = status
        self.body = body
        fields = [:]
        for name in call.read ?? [] { fields[name.lowercased()] = field(name) }
    }

    /// Makes the value of a subscription from the data of its events.
    package init(events: [String]) {
        self.init(status: 200, body: Data(), of: Call(url: ""), field: { _ in nil })
        self.events = events
    }
}

/// The client of a case.
package protocol Client: Sendable {
    /// Makes a call and reads its body to the end.
    func perform(_ call: Call) async throws -> Value
    /// Closes the connections.
    func close() async
}

/// A call that the client's types do not permit.
package struct Refused: Error, CustomStringConvertible {
    package var description: String

    /// Makes an error that says what the client does not permit.
    package init(_ description: String) { self.description = description }
}
