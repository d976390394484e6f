import { decodePaymentSignatureHeader } from '@x402/core/http'
import { PaymentPayloadV1Schema, PaymentPayloadV2Schema } from '@x402/core/schemas'
import { z } from 'zod'
import { Fault, isFault } from '../../kit/fault.ts'
import { canonical, digestOf, type Proof } from './rules.ts'

export const proofHeader = 'payment-signature'
export const oldProofHeader = 'x-payment'

/** Returns null when no proof was sent. Throws `invalid_payment`. */
export function readProof(header: (name: string) => string | undefined): Proof | null {
  const present = header(proofHeader)
  if (present !== undefined) return versionTwo(decoded(present, proofHeader))
  const versionOneHeader = header(oldProofHeader)
  return versionOneHeader === undefined ? null : versionOne(decoded(versionOneHeader, oldProofHeader))
}

/** Like `readProof`, but also null for an unreadable proof: without an offer the caller must not learn why. */
export function readableProof(header: Parameters<typeof readProof>[0]): Proof | null {
  try {
    return readProof(header)
  } catch (error) {
    if (!isFault(error, 'invalid_payment')) throw error
    return null
  }
}

function versionTwo(value: unknown): Proof {
  const parsed = PaymentPayloadV2Schema.safeParse(value)
  if (!parsed.success) throw malformed(proofHeader, 'a payment of version 2 of x402')
  const { scheme, network, amount, asset, payTo } = parsed.data.accepted
  return proofOf(2, parsed.data, { scheme, network, amount, asset, payTo })
}

function versionOne(value: unknown): Proof {
  const parsed = PaymentPayloadV1Schema.safeParse(value)
  if (!parsed.success) throw malformed(oldProofHeader, 'a payment of version 1 of x402')
  const { scheme, network } = parsed.data
  return proofOf(1, parsed.data, { scheme, network })
}

/** Only one spelling of numbers and addresses is valid, so that equal payments have equal hashes. */
const Authorization = z.object({
  from: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
  to: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
  value: z.string().regex(/^(0|[1-9]\d{0,77})$/),
  nonce: z.string().regex(/^0x[0-9a-fA-F]{64}$/),
})

/**
 * A signed transfer (EIP-3009) is identified by its signer and nonce: the token's contract accepts each pair once, and
 * other fields do not matter. Any other payment is identified by its whole content.
 */
function proofOf(version: 1 | 2, wire: { payload: Record<string, unknown> }, terms: Proof['terms']): Proof {
  const { payload } = wire
  // Permit2 is another way to pay. Next to a signed transfer it would give one payment two identities.
  if ('permit2Authorization' in payload) throw malformed(nameOf(version), 'a signed transfer (EIP-3009)')
  if (!('authorization' in payload)) {
    return { version, wire, terms, hash: digestOf(canonical([terms.network, payload])), signed: null }
  }
  const parsed = Authorization.safeParse(payload.authorization)
  if (!parsed.success) throw malformed(nameOf(version), 'a signed transfer (EIP-3009)')
  const { from, to, value, nonce } = parsed.data
  const hash = digestOf(canonical(['eip3009', from.toLowerCase(), nonce.toLowerCase()]))
  return { version, wire, terms, hash, signed: { from, to, value } }
}

function decoded(text: string, name: string): unknown {
  try {
    return decodePaymentSignatureHeader(text)
  } catch {
    // The library's error would repeat the input.
    throw malformed(name, 'JSON in base64')
  }
}

function nameOf(version: 1 | 2): string {
  return version === 2 ? proofHeader : oldProofHeader
}

function malformed(name: string, expected: string): Fault {
  return new Fault('invalid_payment', `The header ${name.toUpperCase()} is not ${expected}.`)
}
