import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import type { Endpoint } from '@roost/contracts/kit/endpoint'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'

/** In order of preference. */
const encodings = ['br', 'gzip'] as const
export type Encoding = (typeof encodings)[number]

/** Smaller bodies fit in one packet anyway. */
const minBytes = 1024

/** 1 MB takes 15 ms of a thread of the pool and shrinks to 6 %; the next level takes twice as long for 5 % less. */
const quality = 4
const gzipLevel = 6
/** Log2 of the window: 1 MB, a quarter of the default's memory per reply. */
const windowBits = 20

/** Names of reply fields whose value opens something. */
const secretField =
  /^(?!.*_(prefix|count|hash)$)(.*_)?(token|secret|password|passphrase|api_key|private_key|codes?|ticket|cookie|webhook_url)$/
/** Fields with such a name whose values open nothing. */
const harmless = new Set(['error_code', 'exit_code'])

/**
 * True if replies of this endpoint may be compressed: JSON of a read, to a caller whom a header identifies, without a
 * field for a secret. Every other endpoint is left out, because the length of a compressed reply reveals whether a
 * guess equals a secret beside it (docs/decisions/0100-compression.md).
 */
export function isCompressible(endpoint: Endpoint): boolean {
  const known = decided.get(endpoint) ?? decide(endpoint)
  decided.set(endpoint, known)
  return known
}

/** Filled by the first reply of each endpoint: all of them at the start would delay it by 0.4 s. */
const decided = new WeakMap<Endpoint, boolean>()

function decide({ method, access, audit, returns }: Endpoint): boolean {
  if (method !== 'GET' || !returns || audit) return false
  if (access.who === 'none' || access.who === 'internal') return false
  return !fieldsOf(returns).some((name) => secretField.test(name) && !harmless.has(name))
}

/** Returns the names of all fields at any depth. */
function fieldsOf(schema: z.ZodType): string[] {
  const fields: string[] = []
  const visit = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    if ('properties' in value && typeof value.properties === 'object')
      fields.push(...Object.keys(value.properties ?? {}))
    for (const part of Object.values(value)) visit(part)
  }
  visit(z.toJSONSchema(schema, { unrepresentable: 'any', io: 'output' }))
  return fields
}

/** Returns the encoding that the client prefers; null: none of ours. */
export function encodingFor(accepted: string | undefined): Encoding | null {
  return accepted ? (negotiate(accepted.toLowerCase(), [...encodings]) as Encoding | null) : null
}

/** Compresses on a thread of the pool, so that the event loop keeps running. */
export async function compressed(content: string | Uint8Array, encoding: Encoding): Promise<Buffer> {
  const bytes = Buffer.from(content as string)
  if (encoding === 'gzip') return promisify(gzip)(bytes, { level: gzipLevel })
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_LGWIN]: windowBits,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
  }
  return promisify(brotliCompress)(bytes, { params })
}

/**
 * A hook `onSend` for the routes of the API. Streams pass unchanged: an event must not wait in a compressor for the
 * next one.
 */
export async function compressReply(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const { endpoint } = request.roost
  const isWhole = typeof payload === 'string' || payload instanceof Uint8Array
  if (!isWhole || reply.statusCode !== 200 || !isJson(reply)) return payload
  if (!endpoint || !isCompressible(endpoint)) return payload
  // Caches must tell the forms apart, also when this client gets the uncompressed one.
  reply.header('vary', 'accept-encoding')
  const encoding = encodingFor(request.headers['accept-encoding'])
  if (!encoding || Buffer.byteLength(payload) < minBytes) return payload
  const body = await compressed(payload, encoding)
  reply.removeHeader('content-length')
  reply.header('content-encoding', encoding)
  return body
}

function isJson(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type')).startsWith('application/json')
}
