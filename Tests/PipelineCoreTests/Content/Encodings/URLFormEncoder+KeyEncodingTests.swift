import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("URLFormEncoder.KeyEncoding", .watched)
struct URLFormEncoderKeyEncodingTests {
    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// An object with one member whose name is set at run time.
    struct Named: Encodable {
        let name: String
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(1, forKey: Key(stringValue: name))
        }
    }

    struct Filter: Encodable {
        struct Price: Encodable { var atLeast = 1 }
        var maxPrice = Price(), byName = ["firstName": [Price()]]
    }

    static func text(_ value: some Encodable, _ keys: URLFormEncoder.KeyEncoding) throws -> String? {
        try URLFormEncoder(keyEncoding: keys).encode(value).removingPercentEncoding
    }

    @Test(
        "convertToSnakeCase separates words with underscores",
        arguments: [
            ("perPage", "per_page"), ("offset", "offset"), ("pageURL", "page_url"),
            ("myURLProperty", "my_url_property"),
            ("_leadingAndTrailing_", "_leading_and_trailing_"), ("a", "a"), ("", ""), ("item2Name", "item2_name"),
        ]
    )
    func snakeCase(_ key: String, _ name: String) throws {
        #expect(try Self.text(Named(name: key), .convertToSnakeCase) == name + "=1")
    }

    @Test("convertToSnakeCase gives the same names as JSONEncoder", arguments: 0..<10)
    func likeJSONEncoder(_ seed: UInt64) throws {
        var random = PipelineRandom.seeded(seed)
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        for _ in 0..<200 {
            let length = Int.random(in: 0...9, using: &random)
            let key = String((0..<length).compactMap { _ in "aAbBzZ_1éÉ".randomElement(using: &random) })
            let json = try JSONDecoder().decode([String: Int].self, from: encoder.encode(Named(name: key)))
            #expect(try Self.text(Named(name: key), .convertToSnakeCase) == json.keys.map { $0 + "=1" }.first)
        }
    }

    @Test("Members are renamed at every level, and dictionary keys never")
    func dictionaries() throws {
        let text = try Self.text(Filter(), .convertToSnakeCase)
        #expect(text == "max_price[at_least]=1&by_name[firstName][][at_least]=1")
        #expect(try Self.text(["perPage": 1], .convertToSnakeCase) == "perPage=1")
        #expect(try Self.text(Filter(), .useDefaultKeys) == "maxPrice[atLeast]=1&byName[firstName][][atLeast]=1")
    }

    @Test("A custom key encoding receives the whole path, ending with the key to rename")
    func custom() throws {
        let keys = URLFormEncoder.KeyEncoding.custom { $0.map(\.stringValue).joined(separator: ">") }
        let text = try Self.text(Filter(), keys)
        #expect(text == "maxPrice[maxPrice>atLeast]=1&byName[firstName][][byName>firstName>0>atLeast]=1")
    }

    @Test("The keys of nested containers are renamed, and super is not")
    func nestedContainers() throws {
        struct Nested: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                var array = container.nestedUnkeyedContainer(forKey: Key(stringValue: "allItems"))
                try array.encode(1)
                try Named(name: "innerName").encode(to: container.superEncoder())
            }
        }
        #expect(try Self.text(Nested(), .convertToSnakeCase) == "all_items[]=1&super[inner_name]=1")
    }
}
