import { createHash } from 'node:crypto'
import type { PaidChatInfo } from '@roost/contracts/conversations/paid'
import { type PaidAsset, paidNetwork } from '@roost/contracts/conversations/paid-networks'

/** The price of one message, and the address that receives it. */
export type Offer = {
  agent: { id: string; name: string }
  price_micros: number
  pay_to: string
  network: string
  asset: string
  description: string | null
  /** The address that accepts paid messages. */
  url: string
}

export type Requirements = PaidChatInfo['accepts'][number]

/** Minimum validity of a proof. */
const maxTimeoutSeconds = 60

/** Returns exact micro-dollars; null for more than 6 decimals. */
export function microsOf(usd: number): number | null {
  const micros = Math.round(usd * 1_000_000)
  return micros / 1_000_000 === usd ? micros : null
}

/** Returns the amount in the smallest unit of a token that is worth one dollar. */
export function atomicAmount(micros: number, decimals: number): string {
  return (BigInt(micros) * 10n ** BigInt(decimals - 6)).toString()
}

/** Returns the token of a network; null when the platform does not support it. */
export function assetOf(network: string, asset: string | null): PaidAsset | null {
  const usdc = paidNetwork(network)?.usdc ?? null
  if (asset === null) return usdc
  return usdc && isSameAddress(usdc.asset, asset) ? usdc : null
}

export function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

export function requirementsOf(offer: Offer): Requirements {
  const asset = assetOf(offer.network, offer.asset)
  if (!asset) throw new Error(`The network ${offer.network} of a stored price is not known.`)
  return {
    scheme: 'exact',
    network: offer.network,
    amount: atomicAmount(offer.price_micros, asset.decimals),
    asset: asset.asset,
    payTo: offer.pay_to,
    maxTimeoutSeconds,
    extra: { name: asset.name, version: asset.version },
  }
}

const mimeType = 'application/json'

/** The payment terms in the form of version 2. */
export function paymentRequired(offer: Offer, error: string) {
  return {
    x402Version: 2 as const,
    error,
    resource: { url: offer.url, description: descriptionOf(offer), mimeType },
    accepts: [requirementsOf(offer)],
  }
}

/** The payment terms in the form of version 1; empty when the network has no version 1 name. */
export function versionOneForms(offer: Offer) {
  const form = versionOneForm(offer)
  return form ? [form] : []
}

export function versionOneForm(offer: Offer) {
  const network = paidNetwork(offer.network)?.v1
  if (!network) return null
  const { amount, network: _, ...rest } = requirementsOf(offer)
  const about = { resource: offer.url, description: descriptionOf(offer), mimeType }
  return { ...rest, network, maxAmountRequired: amount, ...about, outputSchema: {} }
}

function descriptionOf(offer: Offer): string {
  return offer.description ?? `One message to the agent ${offer.agent.name}.`
}

/** The content of a proof of either version. */
export type Proof = {
  version: 1 | 2
  /** The payload sent to the facilitator. */
  wire: object
  /** Identifies the payment itself: every encoding of it has the same hash and pays once. */
  hash: string
  terms: { scheme: string; network: string; amount?: string; asset?: string; payTo?: string }
  /** Signer, payee and amount; null for a payment kind that the platform cannot read. */
  signed: { from: string; to: string; value: string } | null
}

/** Returns the signature in a payload for the facilitator, in a form to compare: the case of its digits is free. */
export function signatureOf(wire: object): string {
  const { payload = {} } = wire as { payload?: { signature?: unknown } }
  return canonical(payload.signature ?? null).toLowerCase()
}

/** Names the first term in which a proof differs from the offer; null when all match. */
export function differenceOf({ version, terms, signed }: Proof, offer: Offer): string | null {
  const required = requirementsOf(offer)
  const network = version === 1 ? paidNetwork(offer.network)?.v1 : required.network
  if (terms.scheme !== required.scheme) return 'other_scheme'
  if (terms.network !== network) return 'other_network'
  if (terms.amount !== undefined && terms.amount !== required.amount) return 'other_amount'
  if (terms.asset !== undefined && !isSameAddress(terms.asset, required.asset)) return 'other_asset'
  if (terms.payTo !== undefined && !isSameAddress(terms.payTo, required.payTo)) return 'other_payee'
  if (signed && !isSameAddress(signed.to, required.payTo)) return 'other_payee'
  if (signed && signed.value !== required.amount) return 'other_amount'
  return null
}

/** Returns the payer's address; null when only the proof identifies the payer. */
export function payerName(payer: string): string | null {
  return payer.startsWith('proof:') ? null : payer
}

/** Identifies a message together with its conversation. */
export function requestHash(agentId: string, request: { message: string; sessionId: string | null }): string {
  return digestOf(JSON.stringify([agentId, request.sessionId, request.message]))
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** JSON with sorted object fields, so that equal content gives equal text. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
    return Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
  })
}
