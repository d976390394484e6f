import { paidNetwork } from '@roost/contracts/conversations/paid-networks'

/** Formats an amount in the smallest unit of a network's USDC as exact dollars: `$0.001`. */
export function amountText(units: string, network: string): string {
  const decimals = paidNetwork(network)?.usdc.decimals ?? 6
  const digits = units.padStart(decimals + 1, '0')
  const whole = digits.slice(0, -decimals)
  const part = digits.slice(-decimals).replace(/0+$/, '')
  return `$${whole}.${part.padEnd(2, '0')}`
}

/** The two ends of an address or a transaction. */
export function shortened(text: string): string {
  return text.length > 14 ? `${text.slice(0, 6)}…${text.slice(-4)}` : text
}
