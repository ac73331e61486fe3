import Foundation

/// An entry of a HAR file, with all that its writer has put into it.
///
/// What real writers do differently is taken as meant: everything but the request's method and URL and the response's status may be
/// missing or `null`.
///
/// Source: HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/
package struct HAREntry: Sendable {
    /// As it stands in the file.
    package var json: JSONNode

    package init(json: JSONNode) { self.json = json }
}
