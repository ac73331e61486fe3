// Security: certificates, keys, trust and the keychain.
//
// unsure: Apple's headers may mark some of these classes as Sendable. Here, none is.
@_exported public import AppleCoreFoundation

// https://developer.apple.com/documentation/security/seccertificate, …/seckey, …/secidentity, …/sectrust
public final class SecCertificate {}
public final class SecKey {}
public final class SecIdentity {}
public final class SecTrust {}

// https://developer.apple.com/documentation/security/security-framework-result-codes
public var errSecSuccess: OSStatus { 0 }
public var errSecDuplicateItem: OSStatus { -25299 }
public var errSecItemNotFound: OSStatus { -25300 }
public var errSecHostNameMismatch: OSStatus { -67602 }
public var errSecMissingEntitlement: OSStatus { -34018 }

// https://developer.apple.com/documentation/security/seccertificatecreatewithdata(_:_:)
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? { never() }
// https://developer.apple.com/documentation/security/seccertificatecopykey(_:)
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? { never() }
// https://developer.apple.com/documentation/security/seckeycopyexternalrepresentation(_:_:)
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? { never() }
// https://developer.apple.com/documentation/security/seckeycopyattributes(_:)
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? { never() }
// https://developer.apple.com/documentation/security/secidentitygettypeid()
public func SecIdentityGetTypeID() -> CFTypeID { never() }

// https://developer.apple.com/documentation/security/secpolicycreatebasicx509()
public final class SecPolicy {}
public func SecPolicyCreateBasicX509() -> SecPolicy { never() }
// https://developer.apple.com/documentation/security/sectrustcreatewithcertificates(_:_:_:)
@discardableResult public func SecTrustCreateWithCertificates(
    _ certificates: CFTypeRef,
    _ policies: CFTypeRef?,
    _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus { never() }
// https://developer.apple.com/documentation/security/sectrustsetanchorcertificates(_:_:)
@discardableResult public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchors: CFArray?) -> OSStatus {
    never()
}
// https://developer.apple.com/documentation/security/sectrustsetanchorcertificatesonly(_:_:)
@discardableResult public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ only: Bool) -> OSStatus {
    never()
}
// https://developer.apple.com/documentation/security/sectrustevaluatewitherror(_:_:), whose result must be used
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool { never() }
// https://developer.apple.com/documentation/security/sectrustcopycertificatechain(_:)
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { never() }

// https://developer.apple.com/documentation/security/secpkcs12import(_:_:_:)
@discardableResult public func SecPKCS12Import(
    _ data: CFData,
    _ options: CFDictionary,
    _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus { never() }
// unsure: the headers of macOS 15 have this key; those of other platforms lack it.
// https://developer.apple.com/documentation/security/ksecimporttomemoryonly
public var kSecImportToMemoryOnly: CFString { never() }
// https://developer.apple.com/documentation/security/pkcs-12-import-items-keys
public var kSecImportExportPassphrase: CFString { never() }
public var kSecImportItemIdentity: CFString { never() }
public var kSecImportItemCertChain: CFString { never() }

// https://developer.apple.com/documentation/security/secitemcopymatching(_:_:)
@discardableResult public func SecItemCopyMatching(
    _ query: CFDictionary,
    _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus { never() }
// https://developer.apple.com/documentation/security/secitemadd(_:_:)
@discardableResult public func SecItemAdd(
    _ attributes: CFDictionary,
    _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus { never() }
// https://developer.apple.com/documentation/security/secitemupdate(_:_:)
@discardableResult public func SecItemUpdate(_ query: CFDictionary, _ attributes: CFDictionary) -> OSStatus { never() }
// https://developer.apple.com/documentation/security/secitemdelete(_:)
@discardableResult public func SecItemDelete(_ query: CFDictionary) -> OSStatus { never() }

// https://developer.apple.com/documentation/security/item-class-keys-and-values
public var kSecClass: CFString { never() }
public var kSecClassGenericPassword: CFString { never() }
public var kSecClassIdentity: CFString { never() }
// https://developer.apple.com/documentation/security/item-attribute-keys-and-values
public var kSecAttrService: CFString { never() }
public var kSecAttrAccount: CFString { never() }
public var kSecAttrLabel: CFString { never() }
public var kSecAttrAccessGroup: CFString { never() }
public var kSecAttrAccessible: CFString { never() }
public var kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString { never() }
public var kSecAttrKeyType: CFString { never() }
public var kSecAttrKeyTypeRSA: CFString { never() }
public var kSecAttrKeyTypeECSECPrimeRandom: CFString { never() }
// https://developer.apple.com/documentation/security/search-attribute-keys-and-values
public var kSecMatchLimit: CFString { never() }
public var kSecMatchLimitOne: CFString { never() }
public var kSecMatchLimitAll: CFString { never() }
public var kSecUseDataProtectionKeychain: CFString { never() }
// https://developer.apple.com/documentation/security/item-return-result-keys
public var kSecReturnData: CFString { never() }
public var kSecReturnRef: CFString { never() }
public var kSecReturnAttributes: CFString { never() }
public var kSecValueData: CFString { never() }
public var kSecValueRef: CFString { never() }

/// The body of every stub: nothing runs.
func never() -> Never { fatalError("a stub is only type-checked") }
