import Foundation
import RawStructuredFieldValues

/// Parses each field and compares its serialized form with the canonical one.
@main
enum StructuredFieldTests {
    private struct Test {
        let name: String
        let raw: [String]
        let type: String
        let mustFail: Bool
        let canFail: Bool
        let canonical: [String]
    }

    static func main() throws {
        guard CommandLine.arguments.count == 2 else {
            print("usage: structured-fields FOLDER, a clone of structured-field-tests")
            exit(2)
        }
        let folder = URL(filePath: CommandLine.arguments[1])
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
        var (total, passed) = (0, 0)
        for name in names.filter({ $0.hasSuffix(".json") }).sorted() {
            let tests = try read(folder.appending(path: name))
            let failures = tests.compactMap { test in failure(test).map { (test, $0) } }
            total += tests.count
            passed += tests.count - failures.count
            print("\(name): \(tests.count - failures.count) of \(tests.count)")
            for (test, text) in failures { print("    \(test.name): \(test.raw): \(text)") }
        }
        print("\(passed) of \(total) agree")
        exit(passed == total ? 0 : 1)
    }

    private static func read(_ url: URL) throws -> [Test] {
        let json = try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [[String: Any]] ?? []
        return json.compactMap { test in
            guard let name = test["name"] as? String, let raw = test["raw"] as? [String],
                let type = test["header_type"] as? String
            else { return nil }
            return Test(
                name: name,
                raw: raw,
                type: type,
                mustFail: test["must_fail"] as? Bool ?? false,
                canFail: test["can_fail"] as? Bool ?? false,
                canonical: test["canonical"] as? [String] ?? raw
            )
        }
    }

    /// Returns how the result differs from the expected one; `nil` if it does not.
    private static func failure(_ test: Test) -> String? {
        do {
            let text = try canonical(test.raw.joined(separator: ", "), test.type)
            if test.mustFail { return "parsed as \(text), but must fail" }
            let expected = test.canonical.joined(separator: ", ")
            return text == expected ? nil : "serialized as \(text), not \(expected)"
        } catch {
            return test.mustFail || test.canFail ? nil : "failed with \(error)"
        }
    }

    private static func canonical(_ text: String, _ type: String) throws -> String {
        var parser = StructuredFieldValueParser(Array(text.utf8))
        var serializer = StructuredFieldValueSerializer()
        let bytes: [UInt8]
        switch type {
        case "dictionary":
            var members = try parser.parseDictionaryFieldValue()
            for (key, member) in members { members[key] = try normalized(member) }
            bytes = try serializer.writeDictionaryFieldValue(members)
        case "list":
            bytes = try serializer.writeListFieldValue(parser.parseListFieldValue().map(normalized))
        default:
            bytes = try serializer.writeItemFieldValue(normalized(parser.parseItemFieldValue()))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // The parser leaves byte sequences undecoded.
    private static func normalized(_ member: ItemOrInnerList) throws -> ItemOrInnerList {
        switch member {
        case .item(let item): return .item(try normalized(item))
        case .innerList(var list):
            for index in list.bareInnerList.indices {
                list.bareInnerList[index] = try normalized(list.bareInnerList[index])
            }
            return .innerList(list)
        }
    }

    private static func normalized(_ item: Item) throws -> Item {
        guard case .undecodedByteSequence(let text) = item.rfc9651BareItem else { return item }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: text + padding) else { throw CocoaError(.coderInvalidValue) }
        let bytes = RFC9651BareItem.undecodedByteSequence(data.base64EncodedString())
        return Item(bareItem: bytes, parameters: item.rfc9651Parameters)
    }
}
