#if !canImport(FoundationNetworking)
import Foundation
import PipelineCore
import Security

extension URLSessionTrust {
    /// What to do with a challenge.
    enum Answer {
        case platform
        case credential(URLCredential)
        case failure(PipelineError)
    }

    /// Handles a challenge for the server's trust, which arrives before any part of a request is sent.
    func answer(_ trust: SecTrust, of host: String, _ context: PipelineContext) -> Answer {
        guard let rule = rules.value(for: host), rule.authorities != nil || rule.pins != nil else { return .platform }
        if let authorities = rule.authorities {
            let anchors = authorities.compactMap { SecCertificateCreateWithData(nil, Data($0) as CFData) }
            guard SecTrustSetAnchorCertificates(trust, anchors as CFArray) == errSecSuccess,
                SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess
            else { return .failure(PipelineError(.tls(.certificate), "the authorities of the host cannot be applied")) }
        }
        var error: CFError?
        guard SecTrustEvaluateWithError(trust, &error) else {
            if let error, CFErrorGetCode(error) == Int(errSecHostNameMismatch) {
                return .failure(PipelineError(.tls(.hostName), "the certificate is for another host"))
            }
            return .failure(PipelineError(.tls(.certificate), "the server's certificate is not one to trust"))
        }
        guard let pins = rule.pins else { return .credential(URLCredential(trust: trust)) }
        let seen = Self.pin(of: trust)
        guard let outcome = pins.outcome(of: seen, at: policy.now()) else {
            return .credential(URLCredential(trust: trust))
        }
        context.report(.event(outcome.description, of: name))
        policy.report?(TrustPolicy.Report(host: host, seenPin: seen, outcome: outcome))
        guard outcome == .rejected else { return .credential(URLCredential(trust: trust)) }
        return .failure(.pin(host, seen))
    }

    /// Handles a request for a client certificate.
    func answerIdentity(of host: String) -> Answer {
        guard let identity = identities?.identity(for: host) else { return .platform }
        guard let credential = identity.makeCredential() else {
            return .failure(
                PipelineError(.tls(.configuration), "the client identity for \(host) cannot be read from its source")
            )
        }
        return .credential(credential)
    }

    /// Returns the pin of the leaf certificate's key.
    static func pin(of trust: SecTrust) -> TrustPolicy.Pin? {
        guard let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate], let leaf = chain.first,
            let key = SecCertificateCopyKey(leaf), let data = SecKeyCopyExternalRepresentation(key, nil) as Data?,
            let attributes = SecKeyCopyAttributes(key) as? [CFString: Any],
            let type = attributes[kSecAttrKeyType] as? String
        else { return nil }
        let bytes = [UInt8](data)
        var info: [UInt8]?
        if type == kSecAttrKeyTypeRSA as String { info = SubjectPublicKeyInfo.rsa(bytes) }
        if type == kSecAttrKeyTypeECSECPrimeRandom as String { info = SubjectPublicKeyInfo.ec(bytes) }
        return info.map { TrustPolicy.Pin(subjectPublicKeyInfo: $0) }
    }
}

extension ClientIdentity {
    /// Returns the platform's form of the identity; `nil` for PEM, or if there is none.
    fileprivate func makeCredential() -> URLCredential? {
        var found: CFTypeRef?
        var intermediates: [SecCertificate] = []
        switch source {
        case .pem:
            return nil
        case .pkcs12(let bytes, let passphrase):
            var items: CFArray?
            // Without a keychain: the key stays in memory.
            var options: [CFString: Any] = [kSecImportExportPassphrase: passphrase]
            #if os(macOS)
            options[kSecImportToMemoryOnly] = true
            #endif
            guard SecPKCS12Import(Data(bytes) as CFData, options as CFDictionary, &items) == errSecSuccess,
                let item = (items as? [[CFString: Any]])?.first
            else { return nil }
            found = item[kSecImportItemIdentity] as CFTypeRef?
            // The first certificate is that of the identity.
            let chain = item[kSecImportItemCertChain] as? [SecCertificate] ?? []
            intermediates = Array(chain.dropFirst())
        case .keychain(let label):
            found = Self.findIdentity(label)
        }
        guard let reference = found, CFGetTypeID(reference) == SecIdentityGetTypeID() else { return nil }
        return URLCredential(
            identity: unsafeDowncast(reference, to: SecIdentity.self),
            certificates: intermediates.isEmpty ? nil : intermediates,
            persistence: .none
        )
    }

    private static func findIdentity(_ label: String) -> CFTypeRef? {
        var query: [CFString: Any] = [kSecClass: kSecClassIdentity, kSecAttrLabel: label, kSecReturnRef: true]
        #if os(macOS)
        // The file-based keychain ignores the label in a query for identities, so all are read and filtered here.
        query[kSecReturnAttributes] = true
        query[kSecMatchLimit] = kSecMatchLimitAll
        #endif
        var found: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess else { return nil }
        #if os(macOS)
        return identity(label, in: found as? [[CFString: Any]] ?? [])
        #else
        return found
        #endif
    }

    /// Returns the first identity whose certificate has a label.
    static func identity(_ label: String, in items: [[CFString: Any]]) -> CFTypeRef? {
        let item = items.first { $0[kSecAttrLabel] as? String == label }
        return item?[kSecValueRef] as CFTypeRef?
    }
}
#endif
