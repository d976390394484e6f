import { type IncomingMessage, type RequestListener, request, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Log } from '../../../log.ts'
import {
  baseMark,
  baseOf,
  fillerKind,
  overlayOptions,
  type PlainVolume,
  partOf,
  upperOf,
  workOf,
} from '../overlay.ts'
import { checkedArchive } from './archive.ts'
import { type BodyRules, isVolumeName, readContainerBody, readNetworkBody, readVolumeBody } from './bodies.ts'
import { type AllowedCall, RefusedCall, readCall } from './calls.ts'
import { type IsOwn, reduceDisk, reduceInfo, reduceNetworks, reduceVolume } from './replies.ts'

export type EngineFilterOptions = BodyRules & {
  /** Socket of the engine. */
  engineSocket: string
  log: Pick<Log, 'warn' | 'error'>
}

/** An answer that ends the call before it reaches the engine. */
type Answer = { status: number; message: string }

const maxBodyBytes = 1_000_000
const maxAnswerBytes = 64_000_000

/**
 * Passes calls of the Docker adapter to the engine, for objects of one installation, and refuses everything else with
 * 403 and the rule. A caller with this socket therefore cannot become root on the machine.
 */
export function createEngineFilter(options: EngineFilterOptions): RequestListener {
  const { install, engineSocket, log } = options
  const ownLabel = `roost.install=${install}`
  const isOwn: IsOwn = (labels) => labels?.['roost.install'] === install

  return (incoming, response) => {
    handle(incoming, response).catch((error: unknown) => {
      if (error instanceof RefusedCall) {
        // Paths hold names, never secrets; query strings can hold more.
        const path = (incoming.url ?? '').split('?', 1)[0]?.slice(0, 300)
        log.warn({ method: incoming.method, path, rule: error.message }, 'an engine call was refused')
        return answer(incoming, response, {
          status: 403,
          message: `Refused by the engine filter. ${error.message}`,
        })
      }
      if (!response.destroyed && !incoming.destroyed) log.error({ err: error }, 'an engine call failed')
      if (response.headersSent) return void response.destroy()
      answer(incoming, response, { status: 502, message: 'The engine filter cannot reach the engine.' })
    })
  }

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (incoming.headers.upgrade !== undefined)
      throw new RefusedCall('Roost takes over no connection of the engine.')
    const call = readCall(incoming.method ?? '', incoming.url ?? '', ownLabel)
    const path = await resolveTarget(call)
    if (typeof path !== 'string') return answer(incoming, response, path)
    const query = call.query.toString()
    const target = query === '' ? path : `${path}?${query}`
    if (call.body === 'archive') return forwardArchive(target, incoming, response)
    const text = await readBody(incoming)
    const body = call.body === 'none' ? null : await checkBody(call.body, text)
    if (body !== null && typeof body !== 'string') return answer(incoming, response, body)
    return forward(call, target, response, body)
  }

  /** Returns the path with the engine's own id, so that a rename in between cannot lead to another object. */
  async function resolveTarget({ method, target, path, body }: AllowedCall): Promise<string | Answer> {
    if (!target) return path
    const { kind, name } = target
    switch (kind) {
      case 'image':
        if (!options.isAllowedImage(name)) throw new RefusedCall('Only images of agents are visible.')
        return path.replace('{}', name)
      case 'container': {
        const found = await inspect(`/containers/${name}/json`)
        const config = found?.Config as { Labels?: Record<string, string> } | undefined
        // The existence of other containers is not shown.
        if (!found || !isOwn(config?.Labels)) return { status: 404, message: `No such container: ${name}` }
        if (body === 'archive') requireFiller(found, config?.Labels)
        return path.replace('{}', String(found.Id))
      }
      case 'network': {
        const found = await inspect(`/networks/${name}`)
        if (!found || !isOwn(labelsOf(found))) return { status: 404, message: `network ${name} not found` }
        return path.replace('{}', String(found.Id))
      }
      case 'volume': {
        const found = await inspect(`/volumes/${name}`)
        if (!found) return { status: 404, message: `get ${name}: no such volume` }
        if (method !== 'GET' && !isOwn(labelsOf(found)))
          throw new RefusedCall('The volume belongs to something else on this engine.')
        return path.replace('{}', name)
      }
    }
  }

  /** The engine fills volumes through a container that never ran, so nothing in it can lead the engine elsewhere. */
  function requireFiller(found: Record<string, unknown>, labels: Record<string, string> | undefined): void {
    const state = found.State as { Status?: string } | undefined
    if (labels?.['roost.platform'] !== fillerKind || state?.Status !== 'created')
      throw new RefusedCall('Only volumes are filled, through a container that never ran.')
  }

  async function checkBody(kind: 'container' | 'volume' | 'network', text: string): Promise<string | Answer> {
    switch (kind) {
      case 'network':
        return readNetworkBody(text, options).json
      case 'volume': {
        const { name, json, layer } = readVolumeBody(text, options)
        const found = await inspect(`/volumes/${name}`)
        // The engine would answer as if it had created it.
        if (found && !isOwn(labelsOf(found)))
          return {
            status: 409,
            message: `The volume name ${name} is already in use by another installation.`,
          }
        if (layer) await requireLayer(name, layer)
        return json
      }
      case 'container': {
        const { network, volumes, json } = readContainerBody(text, options)
        const found = await inspect(`/networks/${network}`)
        if (!found || found.Name !== network || !isOwn(labelsOf(found)))
          throw new RefusedCall('HostConfig.NetworkMode: must be a network of this installation.')
        for (const volume of volumes) {
          const mounted = await inspect(`/volumes/${volume}`)
          if (mounted && !isOwn(labelsOf(mounted)))
            throw new RefusedCall('HostConfig.Mounts: must be volumes of this installation.')
        }
        return json
      }
    }
  }

  /** The options are those of three plain volumes of this installation, so no folder of the host is mounted. */
  async function requireLayer(name: string, { base, options }: { base: string; options: string }) {
    const isBase: IsOwn = (labels) => labels?.[baseMark] !== undefined
    const first = await plainVolume(base, isBase)
    const driver = overlayOptions({
      bases: first.below === null ? [first] : [first, await plainVolume(first.below, isBase)],
      upper: await plainVolume(upperOf(name), (labels) => labels?.[partOf] === name),
      work: await plainVolume(workOf(name), (labels) => labels?.[partOf] === name),
    })
    if (driver?.o !== options) throw new RefusedCall('DriverOpts.o: must mount volumes of this installation.')
  }

  async function plainVolume(name: string, isMeant: IsOwn): Promise<PlainVolume & { below: string | null }> {
    const found = await inspect(`/volumes/${name}`)
    const labels = found && labelsOf(found)
    const isPlain = Object.keys((found?.Options as object | null | undefined) ?? {}).length === 0
    if (!found || !isOwn(labels) || !isMeant(labels) || !isPlain || found.Driver !== 'local')
      throw new RefusedCall('DriverOpts.o: must mount volumes of this installation.')
    const below = labels?.[baseOf] ?? null
    if (below !== null && !isVolumeName(below)) throw new RefusedCall(`Labels: ${baseOf} must name a volume.`)
    return { Name: String(found.Name), Mountpoint: String(found.Mountpoint), below }
  }

  async function forwardArchive(
    path: string,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const headers = { host: 'docker', 'content-type': 'application/x-tar' }
    const outgoing = request({ socketPath: engineSocket, method: 'PUT', path, headers, agent: false })
    const replied = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve).on('error', reject)
    })
    replied.catch(() => {})
    const sent = pipeline(incoming, checkedArchive, outgoing)
    try {
      // The engine may refuse it before its end.
      const reply = await Promise.race([replied, sent.then(() => replied)])
      response.writeHead(reply.statusCode ?? 502, { 'content-type': 'application/json', connection: 'close' })
      await pipeline(reply, response)
    } finally {
      outgoing.destroy()
      await sent.catch(() => {})
    }
  }

  /** Null for an unknown object. */
  async function inspect(path: string): Promise<Record<string, unknown> | null> {
    const reply = await send('GET', path, null)
    const text = await readBody(reply, maxAnswerBytes)
    if (reply.statusCode === 404) return null
    if (reply.statusCode !== 200) throw new Error(`the engine answered ${reply.statusCode} to ${path}`)
    return JSON.parse(text) as Record<string, unknown>
  }

  async function forward(
    call: AllowedCall,
    path: string,
    response: ServerResponse,
    body: string | null,
  ): Promise<void> {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    // The caller may have left during the checks.
    if (response.closed) return
    const reply = await send(call.method, path, body, gone.signal)
    const status = reply.statusCode ?? 502
    const headers = { 'content-type': reply.headers['content-type'] ?? 'application/json' }
    if (call.reply === 'as-is' || status !== 200) {
      response.writeHead(status, headers)
      // A stream of events starts long before its first event.
      response.flushHeaders()
      // The caller may leave at any time.
      await pipeline(reply, response).catch((error: unknown) => {
        if (!gone.signal.aborted) throw error
      })
      return
    }
    const parsed: unknown = JSON.parse(await readBody(reply, maxAnswerBytes))
    response.writeHead(status, headers).end(JSON.stringify(reduce(call, parsed)))
  }

  function reduce(call: AllowedCall, parsed: unknown): unknown {
    // The engine's own answers to calls of the table, whose forms its API documents.
    const fields = parsed as Record<string, unknown>
    switch (call.reply) {
      case 'info':
        return reduceInfo(fields)
      case 'disk':
        return reduceDisk(fields, isOwn)
      case 'networks':
        return reduceNetworks(parsed as [], isOwn, namesIn(call.query))
      case 'volume':
        return reduceVolume(fields, isOwn)
      case 'as-is':
        return parsed
    }
  }

  function send(
    method: string,
    path: string,
    body: string | null,
    signal?: AbortSignal,
  ): Promise<IncomingMessage> {
    const headers = { host: 'docker', ...bodyHeaders(body) }
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { socketPath: engineSocket, method, path, headers, agent: false, signal },
        resolve,
      )
      outgoing.on('error', reject)
      outgoing.end(body ?? undefined)
    })
  }
}

function bodyHeaders(body: string | null): Record<string, string | number> {
  if (body === null) return {}
  return { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
}

const labelsOf = (found: Record<string, unknown>) => found.Labels as Record<string, string> | null | undefined

function namesIn(query: URLSearchParams): string[] {
  const filters: { name?: string[] } = JSON.parse(query.get('filters') ?? '{}')
  return filters.name ?? []
}

async function readBody(stream: IncomingMessage, limit = maxBodyBytes): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes > limit) throw new RefusedCall(`The body is longer than ${limit} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Closes the connection, whose unread body could otherwise be taken for the next request. */
function answer(incoming: IncomingMessage, response: ServerResponse, { status, message }: Answer): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  const connection = incoming.complete ? {} : { connection: 'close' }
  response
    .writeHead(status, { 'content-type': 'application/json', ...connection })
    .end(`${JSON.stringify({ message })}\n`)
}
