// CryptoKit, whose API is that of swift-crypto: https://developer.apple.com/documentation/cryptokit. RSA is not part of
// it, and not of this module either. What swift-crypto has before CryptoKit is not told apart.
@_exported public import Crypto
