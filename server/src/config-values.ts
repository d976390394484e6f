import { isIP } from 'node:net'
import { parsePlatformAddress } from '@roost/contracts/link/addresses'

/** An invalid value. The message continues a sentence that starts with the variable's name. */
export class Rejected extends Error {}

export function matching(text: string, pattern: RegExp, rule: string): string {
  if (!pattern.test(text)) throw new Rejected(rule)
  return text
}

export function integer(text: string, minimum: number, maximum: number): number {
  const value = Number(text)
  if (!/^\d{1,15}$/.test(text) || value < minimum || value > maximum) {
    throw new Rejected(`must be an integer from ${minimum} to ${maximum}`)
  }
  return value
}

export function boolean(text: string): boolean {
  if (/^(true|1|yes|on)$/i.test(text)) return true
  if (/^(false|0|no|off)$/i.test(text)) return false
  throw new Rejected('must be true or false')
}

export function oneOf<T extends string>(text: string, values: readonly T[]): T {
  const found = values.find((value) => value === text)
  if (found === undefined) throw new Rejected(`must be one of ${values.join(', ')}`)
  return found
}

/** Items separated by commas; an empty text is an empty list. */
export function listOf<T>(text: string, item: (text: string) => T): T[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(item)
}

/** 0 lets the system choose. */
export function port(text: string): number {
  return integer(text, 0, 65_535)
}

export function portRange(text: string): { first: number; last: number } {
  const [, from = '', to = ''] = /^(\d{1,5})-(\d{1,5})$/.exec(text) ?? []
  const [first, last] = [Number(from), Number(to)]
  if (from === '' || first < 1 || last > 65_535 || first > last) {
    throw new Rejected('must be two ports like 2222-2262')
  }
  return { first, last }
}

/** An IP address, or a host name that resolves to one. */
export function address(text: string): string {
  if (isIP(text) === 0 && !/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text)) {
    throw new Rejected('must be an IP address or a host name')
  }
  return text
}

/** `host` or `host:port` of the platform for agents; `port` null when it is missing. */
export function agentAddress(text: string): { host: string; port: number | null } {
  const hasPort = /:\d+$/.test(text) && isIP(text) === 0
  const bracketed = isIP(text) === 6 ? `[${text}]` : text
  const found = parsePlatformAddress(hasPort ? text : `${bracketed}:1`)
  if (!found?.host) throw new Rejected('must contain hosts like 10.0.0.5, 10.0.0.5:8001 or roost.example.com')
  return { host: found.host, port: hasPort ? found.port : null }
}

/** An IP address of this machine; `any` for 0.0.0.0 and ::. */
export function ownAddress(text: string): string {
  if (isIP(text) === 0) throw new Rejected('must be an IP address of this machine, or 0.0.0.0 for all')
  return text === '0.0.0.0' || text === '::' ? 'any' : text
}

/** An IP address, or a network as `10.0.0.0/8`. */
export function network(text: string): string {
  const [ip = '', bits] = text.split('/', 2)
  const family = isIP(ip)
  const maxBits = family === 4 ? 32 : 128
  if (family === 0 || (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits))) {
    throw new Rejected('must contain IP addresses or networks like 10.0.0.0/8')
  }
  return text
}

/** A network in the form that Kubernetes accepts: `2001:db8::/32`, but neither everything nor IPv4 inside of IPv6. */
export function closedNetwork(text: string): string {
  const [, ip = '', prefix = ''] = /^([\da-f.:]+)\/([1-9]\d{0,2})$/i.exec(text) ?? []
  const bits = bitsOf(ip)
  const isMapped = bits.length === 128 && bits.startsWith(`${'0'.repeat(80)}${'1'.repeat(16)}`)
  if (isMapped || Number(prefix) > bits.length || bits.slice(Number(prefix)).includes('1') || bits === '')
    throw new Rejected(
      'must contain networks like 100.64.0.0/10 or 2001:db8::/32, with a prefix of at least 1 and only zeros after it',
    )
  return `${canonical(ip)}/${prefix}`
}

/** All bits of an address as a text of 0 and 1; empty for other texts. */
function bitsOf(ip: string): string {
  if (isIP(ip) === 4) return inBinary(ip.split('.').map(Number), 8)
  if (isIP(ip) !== 6) return ''
  const [before = [], after = []] = canonical(ip)
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  const groups = [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16))
  return inBinary(groups, 16)
}

const inBinary = (numbers: readonly number[], width: number) =>
  numbers.map((number) => number.toString(2).padStart(width, '0')).join('')

/** The shortest form of an IPv6 address, in hexadecimal digits only. */
const canonical = (ip: string) =>
  isIP(ip) === 6 ? new URL(`http://[${ip}]`).hostname.replace(/[[\]]/g, '') : ip

/** `host:port=address`: a host with its fixed address. */
export function namedAddress(text: string): { at: string; address: string } {
  const [, host = '', port = '', ip = ''] = /^([a-z0-9.-]{1,253}):(\d{1,5})=(.+)$/i.exec(text) ?? []
  if (isIP(ip) === 0 || Number(port) < 1 || Number(port) > 65_535) {
    throw new Rejected('must contain host:port=address, such as intranet.example.com:443=10.0.0.5')
  }
  return { at: `${host.toLowerCase()}:${Number(port)}`, address: ip }
}

/** Address of the mail server, or another destination of mail. */
export function mailUrl(text: string): string {
  if (!/^(smtps?:\/\/.|file:.|log:)/.test(text)) {
    throw new Rejected('must start with smtp://, smtps://, file: or log:')
  }
  if (text.startsWith('smtp') && !URL.canParse(text)) {
    throw new Rejected('must name a mail server as smtp://user:password@host:port')
  }
  return text
}

/** Removes trailing slashes. */
export function httpUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new Rejected('must be an address that starts with http:// or https://')
  }
  return text.replace(/\/+$/, '')
}

/** `512m`, `4g`, or a plain number of bytes. */
export function bytes(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,12})([kmg]?)b?$/i.exec(text) ?? []
  const value = Number(digits) * ({ k: 1024, m: 1024 ** 2, g: 1024 ** 3 }[unit.toLowerCase()] ?? 1)
  if (digits === '' || value < 1) throw new Rejected('must be a size like 512m or 4g')
  return value
}

/** `key=value` pairs separated by commas: labels and annotations of Kubernetes. */
export function keyValues(text: string): Readonly<Record<string, string>> {
  const pairs = listOf(text, (item) => {
    const [, key = '', value = ''] = /^([\w./-]{1,253})=(.*)$/.exec(item) ?? []
    if (key === '') throw new Rejected('must be a list like key=value,key=value')
    return [key, value] as const
  })
  return Object.fromEntries(pairs)
}

/** A toleration of Kubernetes, written like the taint: `key`, `key=value`, `key:Effect` or `key=value:Effect`. */
export function toleration(text: string) {
  const [, key, value, effect] =
    /^([\w./-]{1,253})(?:=([\w.-]{0,63}))?(?::(NoSchedule|PreferNoSchedule|NoExecute))?$/.exec(text) ?? []
  if (key === undefined) throw new Rejected('must be a list of taints like key=value:NoSchedule')
  const match = value === undefined ? { operator: 'Exists' as const } : { operator: 'Equal' as const, value }
  const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const
  return { key, ...match, ...(effect && { effect: oneOf(effect, effects) }) }
}

/** An amount as Kubernetes writes it: `250m` (thousandths), `2`, `512Mi`, `10Gi`. */
export function quantity(text: string): string {
  return matching(
    text,
    /^\d{1,12}(\.\d{1,3})?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/,
    'must be an amount like 250m or 512Mi',
  )
}

/** The name of an object of Kubernetes. */
export function objectName(text: string): string {
  return matching(
    text,
    /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/,
    'must be a name of lower-case letters, digits, hyphens and dots',
  )
}
