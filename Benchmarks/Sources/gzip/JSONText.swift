import Foundation

/// A list of records such as an API returns.
///
/// gzip compresses it to about a fifth.
enum JSONText {
    static func make(byteCount: Int) -> Data {
        var state: UInt64 = 1
        func random(_ limit: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % limit
        }
        let words = ["lamp", "chair", "table", "window", "garden", "river", "stone", "paper", "silver", "winter"]
        var text = Data("[".utf8)
        text.reserveCapacity(byteCount + 512)
        var id = 0
        while text.count < byteCount {
            id += 1
            let name = words[Int(random(10))] + " " + words[Int(random(10))]
            let record =
                #"{"id":\#(id),"name":"\#(name)","price":\#(random(100_000)),"sku":"\#(String(random(1 << 31), radix: 36))","#
                + #""stock":\#(random(50)),"tags":["\#(words[Int(random(10))])","\#(words[Int(random(10))])"],"#
                + #""updated":"2025-0\#(random(9) + 1)-1\#(random(9))T0\#(random(9)):3\#(random(9)):00Z"},"#
            text.append(contentsOf: record.utf8)
        }
        return text.prefix(byteCount)
    }
}
