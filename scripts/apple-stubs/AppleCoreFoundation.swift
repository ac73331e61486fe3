// CoreFoundation, which Foundation and Security re-export on Apple platforms. No source imports this module by name.
//
// The types that Swift bridges are those of Foundation here, because Linux bridges only these. A value of Foundation
// is therefore accepted where Apple platforms need `as CFString`.
@_exported public import Darwin

// https://developer.apple.com/documentation/corefoundation/cftyperef
public typealias CFTypeRef = AnyObject
public typealias CFTypeID = UInt
public typealias CFIndex = Int
// https://developer.apple.com/documentation/corefoundation/cfstring, …/cfdata, …/cfarray, …/cfdictionary
public typealias CFString = NSString
public typealias CFData = NSData
public typealias CFArray = NSArray
public typealias CFDictionary = NSDictionary
// https://developer.apple.com/documentation/corefoundation/cferror, bridged to `any Error`
public typealias CFError = NSError
// https://developer.apple.com/documentation/corefoundation/cfallocator
public final class CFAllocator {}

// https://developer.apple.com/documentation/corefoundation/cfgettypeid(_:)
public func CFGetTypeID(_ value: CFTypeRef!) -> CFTypeID { never() }
// https://developer.apple.com/documentation/corefoundation/cferrorgetcode(_:)
public func CFErrorGetCode(_ error: CFError!) -> CFIndex { never() }

// https://developer.apple.com/documentation/kernel/osstatus
public typealias OSStatus = Int32

/// The body of every stub: nothing runs.
func never() -> Never { fatalError("a stub is only type-checked") }
