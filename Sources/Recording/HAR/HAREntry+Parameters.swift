import Foundation
import HTTPTypes
import PipelineCore

extension HAREntry {
    /// Returns the type of the request body that `postData` names, if the fields name none or lack the boundary.
    func bodyType(_ headers: HTTPFields) -> String? {
        guard let data = json["request"]?["postData"] else { return nil }
        let named = data["mimeType"]?.string ?? ""
        let type = headers[.contentType] ?? named
        if MediaType(type).essence.hasPrefix("multipart/"), Multipart.boundary(in: type) == nil {
            return Multipart.boundary(in: named) == nil
                ? "\(MediaType(type).essence); boundary=\(Self.boundary)" : named
        }
        // A recorder writes this type for a body without one.
        return headers.contains(.contentType) || named.isEmpty || named == "application/octet-stream" ? nil : named
    }

    /// Returns the body of a multipart form that is written only as parameters, as by Charles and Chrome.
    ///
    /// These leave out the content of files.
    ///
    /// - Parameter type: the type of the body.
    /// - Returns: `nil` for a body of another type, and for one with text.
    func multipartParameters(_ type: String?) -> Data? {
        guard let data = json["request"]?["postData"], data["text"]?.string?.isEmpty != false, data["_file"] == nil,
            let params = data["params"]?.elements, !params.isEmpty, let type,
            MediaType(type).essence.hasPrefix("multipart/"), let boundary = Multipart.boundary(in: type)
        else { return nil }
        let parts = params.compactMap { parameter -> String? in
            guard let name = parameter["name"]?.string else { return nil }
            let value = parameter["value"]?.string
            let isFile = parameter["fileName"] != nil || value == nil && parameter["contentType"] != nil
            let file = isFile ? "; filename=\"\(Self.quoted(parameter["fileName"]?.string ?? ""))\"" : ""
            return
                "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.quoted(name))\"\(file)\r\n\r\n\(value ?? "")\r\n"
        }
        return Data((parts.joined() + "--\(boundary)--\r\n").utf8)
    }

    private static let boundary = "parameters"

    private static func quoted(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\r", with: "%0D").replacing(
            "\n",
            with: "%0A"
        )
    }
}
