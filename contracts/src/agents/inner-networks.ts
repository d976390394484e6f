import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'

const path = '/api/settings/agent-defaults/network'
const admin = { who: 'admin' } as const

export const mostOpenedNetworks = 100

/** One address if the prefix has all its bits; port null for all ports. */
export type OpenedNetwork = { address: string; prefix: number; port: number | null }

const shape =
  'must be an address or a network with an optional port, such as 10.0.0.5, 10.0.0.5:443, 10.1.0.0/16 or [fd00::5]:443'
const breadth = 'must have a prefix of at least /8'
const never = 'must not be a loopback, unspecified or multicast address: agents never reach those directly'

/** Returns the rule that the text breaks, as a string. */
export function parseOpenedNetwork(text: string): OpenedNetwork | string {
  const [, inBrackets, bare, portText] = /^(?:\[([^\]]*)\]|([^[\]]*?))(?::(\d{1,5}))?$/.exec(text) ?? []
  const isAllIPv6 = !text.startsWith('[') && text.split(':').length > 2
  const [address = '', prefixText, ...more] = (isAllIPv6 ? text : (inBrackets ?? bare ?? '')).split('/')
  const port = isAllIPv6 || portText === undefined ? null : Number(portText)
  const bits = z.ipv4().safeParse(address).success ? 32 : z.ipv6().safeParse(address).success ? 128 : 0
  const prefix = prefixText === undefined ? bits : /^\d{1,3}$/.test(prefixText) ? Number(prefixText) : -1
  const isOdd = bits === 0 || more.length > 0 || prefix < 0 || prefix > bits || (bits === 32 && inBrackets)
  if (isOdd || (port !== null && (port < 1 || port > 65_535))) return shape
  if (prefix < 8) return breadth
  if (/^(0|127|22[4-9]|2[3-5]\d)\./.test(address) || /^(::1?$|ff)|^[0:]+:0*1?$/i.test(address)) return never
  return { address, prefix, port }
}

export const OpenedNetworkText = z
  .string()
  .trim()
  .max(60)
  .transform((text) => text.toLowerCase())
  .superRefine((text, context) => {
    const parsed = parseOpenedNetwork(text)
    if (typeof parsed === 'string') context.addIssue({ code: 'custom', message: parsed })
  })

const opened = {
  opened: z
    .array(OpenedNetworkText)
    .max(mostOpenedNetworks)
    .describe('Addresses and networks around this machine that all agents may reach, with an optional port.'),
}

export const InnerNetworks = z
  .object({
    ...opened,
    is_closed: z
      .boolean()
      .describe('Whether everything else around this machine is closed to agents of this installation.'),
    problem: z.string().nullable().describe('Why it is not closed, and what to do about it.'),
  })
  .meta({ id: 'InnerNetworks' })
export type InnerNetworks = z.output<typeof InnerNetworks>

export const PutInnerNetworks = z.object(opened)

export const getInnerNetworks = endpoint({
  id: 'getInnerNetworks',
  method: 'GET',
  path,
  summary: 'Private networks that agents may reach',
  tag: 'Settings',
  access: admin,
  returns: InnerNetworks,
})

export const putInnerNetworks = endpoint({
  id: 'putInnerNetworks',
  method: 'PUT',
  path,
  summary: 'Set the private networks that agents may reach',
  description:
    'Replaces the list. Running agents follow immediately. A network does not open addresses of this machine: name those one by one.',
  tag: 'Settings',
  access: admin,
  body: PutInnerNetworks,
  returns: InnerNetworks,
  audit: { type: 'configuration', action: 'put_inner_networks' },
})

export const getInternalInnerNetworks = endpoint({
  id: 'getInternalInnerNetworks',
  method: 'GET',
  path: '/api/internal/inner-networks',
  summary: 'Whether private networks are closed to agents',
  tag: 'Internal',
  access: { who: 'internal' },
  returns: InnerNetworks,
})
