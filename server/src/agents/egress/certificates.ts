// Side effect required by the library, which looks up this global by name.
import 'reflect-metadata'
import { randomBytes, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'

/** Both in PEM format. */
export type Signed = { certificate: string; key: string }

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const { subtle } = webcrypto

/** Creates an authority that can sign servers but no other authorities. */
export async function makeAuthority(notBefore: Date, notAfter: Date): Promise<Signed> {
  const keys = await newKeys()
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: `CN=Roost egress ${randomBytes(4).toString('hex')},O=Roost`,
    notBefore,
    notAfter,
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate: certificate.toString('pem'), key: await pemOf(keys.privateKey) }
}

/** Signs with an authority. All servers share one key of this process, which is never stored. */
export async function createIssuer(authority: Signed) {
  const issuer = new X509Certificate(authority.certificate)
  const pkcs8 = Buffer.from(authority.key.replace(/-----[^-]+-----|\s/g, ''), 'base64')
  const signingKey = await subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign'])
  const keys = await newKeys()
  const key = await pemOf(keys.privateKey)
  return {
    certificate: authority.certificate,
    async issue(host: string, { notBefore, notAfter }: { notBefore: Date; notAfter: Date }): Promise<Signed> {
      const certificate = await X509CertificateGenerator.create({
        serialNumber: serialNumber(),
        // The host is in the extension, because a common name is too short for some hosts.
        subject: 'CN=Roost egress,O=Roost',
        issuer: issuer.subject,
        notBefore,
        notAfter,
        signingAlgorithm: algorithm,
        publicKey: keys.publicKey,
        signingKey,
        extensions: [
          new BasicConstraintsExtension(false, undefined, true),
          new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
          new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
          new SubjectAlternativeNameExtension([{ type: isIP(host) ? 'ip' : 'dns', value: host }]),
          await SubjectKeyIdentifierExtension.create(keys.publicKey),
          await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
        ],
      })
      return { certificate: certificate.toString('pem'), key }
    },
  }
}

function newKeys() {
  return subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  const text = Buffer.from(await subtle.exportKey('pkcs8', key)).toString('base64')
  return `-----BEGIN PRIVATE KEY-----\n${text.replace(/.{64}/g, '$&\n').trimEnd()}\n-----END PRIVATE KEY-----\n`
}

/** Positive, as RFC 5280 requires. */
function serialNumber(): string {
  return `01${randomBytes(15).toString('hex')}`
}
