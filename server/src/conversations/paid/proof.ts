import { decodePaymentSignatureHeader } from '@x402/core/http'
import { PaymentPayloadV1Schema, PaymentPayloadV2Schema } from '@x402/core/schemas'
import { z } from 'zod'
import { Fault, isFault } from '../../kit/fault.ts'
import { canonical, digestOf, type Proof } from './rules.ts'

export const proofHeader = 'payment-signature'
export const oldProofHeader = 'x-payment'

/** Null: none was sent. Throws `invalid_payment`. */
export function readProof(header: (name: string) => string | undefined): Proof | null {
  const present = header(proofHeader)
  if (present !== undefined) return versionTwo(decoded(present, proofHeader))
  const old = header(oldProofHeader)
  return old === undefined ? null : versionOne(decoded(old, oldProofHeader))
}

/** Null as well for what cannot be read: to somebody who is told nothing of what is asked. */
export function readableProof(header: Parameters<typeof readProof>[0]): Proof | null {
  try {
    return readProof(header)
  } catch (error) {
    if (!isFault(error, 'invalid_payment')) throw error
    return null
  }
}

function versionTwo(value: unknown): Proof {
  const read = PaymentPayloadV2Schema.safeParse(value)
  if (!read.success) throw malformed(proofHeader, 'a payment of version 2 of x402')
  const { scheme, network, amount, asset, payTo } = read.data.accepted
  return proofOf(2, read.data, { scheme, network, amount, asset, payTo })
}

function versionOne(value: unknown): Proof {
  const read = PaymentPayloadV1Schema.safeParse(value)
  if (!read.success) throw malformed(oldProofHeader, 'a payment of version 1 of x402')
  const { scheme, network } = read.data
  return proofOf(1, read.data, { scheme, network })
}

/** Numbers and addresses are written in one way, so that the same payment is always the same text. */
const Authorization = z.object({
  from: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
  to: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
  value: z.string().regex(/^(0|[1-9]\d{0,77})$/),
  nonce: z.string().regex(/^0x[0-9a-fA-F]{64}$/),
})

/**
 * A signed transfer (EIP-3009) is known by who signed it and its nonce: the token's contract takes each once, and
 * whatever else is written beside them changes nothing. Anything else is known by all of its content.
 */
function proofOf(version: 1 | 2, wire: { payload: Record<string, unknown> }, terms: Proof['terms']): Proof {
  const { payload } = wire
  // Another way of paying than the one that is asked for; beside a signed transfer it would give it a second face.
  if ('permit2Authorization' in payload) throw malformed(nameOf(version), 'a signed transfer (EIP-3009)')
  if (!('authorization' in payload)) {
    return { version, wire, terms, hash: digestOf(canonical([terms.network, payload])), signed: null }
  }
  const read = Authorization.safeParse(payload.authorization)
  if (!read.success) throw malformed(nameOf(version), 'a signed transfer (EIP-3009)')
  const { from, to, value, nonce } = read.data
  const hash = digestOf(canonical(['eip3009', from.toLowerCase(), nonce.toLowerCase()]))
  return { version, wire, terms, hash, signed: { from, to, value } }
}

function decoded(text: string, name: string): unknown {
  try {
    return decodePaymentSignatureHeader(text)
  } catch {
    // What went wrong would repeat what was sent.
    throw malformed(name, 'JSON in base64')
  }
}

function nameOf(version: 1 | 2): string {
  return version === 2 ? proofHeader : oldProofHeader
}

function malformed(name: string, what: string): Fault {
  return new Fault('invalid_payment', `The header ${name.toUpperCase()} is not ${what}.`)
}
