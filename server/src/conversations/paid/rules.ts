import { createHash } from 'node:crypto'
import type { PaidChatInfo } from '@roost/contracts/conversations/paid'
import { type PaidAsset, paidNetwork } from '@roost/contracts/conversations/paid-networks'

/** What one message costs, and who is paid where. */
export type Offer = {
  agent: { id: string; name: string }
  price_micros: number
  pay_to: string
  network: string
  asset: string
  description: string | null
  /** Where paid messages are sent. */
  url: string
}

export type Requirements = PaidChatInfo['accepts'][number]

/** How long a proof must hold at least. */
const maxTimeoutSeconds = 60

/** Micro-dollars, exactly; null: more than 6 decimals. */
export function microsOf(usd: number): number | null {
  const micros = Math.round(usd * 1_000_000)
  return micros / 1_000_000 === usd ? micros : null
}

/** In the smallest unit of a token that is worth a dollar. */
export function atomicAmount(micros: number, decimals: number): string {
  return (BigInt(micros) * 10n ** BigInt(decimals - 6)).toString()
}

/** The token by which a network is paid; null: none that this platform knows. */
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

/** The object that says what is to be paid, of version 2. */
export function paymentRequired(offer: Offer, error: string) {
  return {
    x402Version: 2 as const,
    error,
    resource: { url: offer.url, description: wordsOf(offer), mimeType },
    accepts: [requirementsOf(offer)],
  }
}

/** The same in the form of version 1; empty where the network has no name in it. */
export function versionOneForms(offer: Offer) {
  const form = versionOneForm(offer)
  return form ? [form] : []
}

export function versionOneForm(offer: Offer) {
  const network = paidNetwork(offer.network)?.v1
  if (!network) return null
  const { amount, network: _, ...rest } = requirementsOf(offer)
  const about = { resource: offer.url, description: wordsOf(offer), mimeType }
  return { ...rest, network, maxAmountRequired: amount, ...about, outputSchema: {} }
}

function wordsOf(offer: Offer): string {
  return offer.description ?? `One message to the agent ${offer.agent.name}.`
}

/** What a proof says of itself, whatever its version. */
export type Proof = {
  version: 1 | 2
  /** As it goes to the facilitator. */
  wire: object
  /** Of the payment itself: however often it is written down anew, it pays once. */
  hash: string
  terms: { scheme: string; network: string; amount?: string; asset?: string; payTo?: string }
  /** Who signed, and for whom and how much; null for a kind that we cannot read. */
  signed: { from: string; to: string; value: string } | null
}

/** In which of its terms a proof differs from what is asked; null: in none. */
export function differenceOf({ version, terms, signed }: Proof, offer: Offer): string | null {
  const asked = requirementsOf(offer)
  const network = version === 1 ? paidNetwork(offer.network)?.v1 : asked.network
  if (terms.scheme !== asked.scheme) return 'other_scheme'
  if (terms.network !== network) return 'other_network'
  if (terms.amount !== undefined && terms.amount !== asked.amount) return 'other_amount'
  if (terms.asset !== undefined && !isSameAddress(terms.asset, asked.asset)) return 'other_asset'
  if (terms.payTo !== undefined && !isSameAddress(terms.payTo, asked.payTo)) return 'other_payee'
  if (signed && !isSameAddress(signed.to, asked.payTo)) return 'other_payee'
  if (signed && signed.value !== asked.amount) return 'other_amount'
  return null
}

/** Who pays, as it is told; null when nobody has said so, and the payer is known by the proof alone. */
export function payerName(payer: string): string | null {
  return payer.startsWith('proof:') ? null : payer
}

/** A message, with the conversation that it goes on. */
export function requestHash(agentId: string, asked: { message: string; sessionId: string | null }): string {
  return digestOf(JSON.stringify([agentId, asked.sessionId, asked.message]))
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** The fields of every object in one order, so that the same content is the same text. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
    return Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
  })
}
