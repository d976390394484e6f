import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { type GitTransfer, gitCallSeconds } from '@roost/contracts/link/git'
import { z } from 'zod'
import { asSealed, type Vault, VaultError } from '../../foundation/vault/index.ts'
import type { Locate } from '../../kit/addresses.ts'
import type { Clock } from '../../kit/clock.ts'
import { type PinnedRequest, requestPinned } from '../../kit/pinned-request.ts'
import type { Secret } from '../../kit/secret.ts'
import type { Log } from '../../ports/log.ts'

/**
 * Forwards an agent's git traffic to the git host. The container holds a ticket for one repository and a few
 * minutes. The host's token is added here and never leaves the platform.
 */
export type Transfers = {
  open(to: { agentId: string; repository: string; mayPush: boolean }): GitTransfer
  /** Whether the host accepts pushes with this agent's token. Throws if the host is unreachable. */
  mayPush(agentId: string, repository: string): Promise<boolean>
  /** Serves `/git/*` on the internal listener. Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
}

export type TransferDeps = {
  vault: Pick<Vault, 'seal' | 'open'>
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  /** URL of `/git` as containers see it. */
  gitUrl(): string
  /** URL of a repository on the git host. */
  addressOf(repository: string): string
  /** Token for the agent's repository; null without one. */
  tokenOf(agentId: string): Promise<Secret | null>
  /** Resolves and checks the git host once; the connection uses exactly the checked addresses. */
  locate: Locate
}

const Ticket = z.object({ agent: z.string(), repository: z.string(), push: z.boolean(), until: z.number() })
const context = 'git-transfer'
const pathForm = /^\/git\/([^/]+\/[^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/

export function createTransfers(deps: TransferDeps): Transfers {
  const { vault, clock, log, gitUrl, addressOf, tokenOf, locate } = deps

  function ticketOf(request: IncomingMessage) {
    const sealed = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    if (sealed === undefined) return null
    try {
      const ticket = Ticket.parse(JSON.parse(vault.open(asSealed(sealed), context)))
      return ticket.until > clock.now().getTime() ? ticket : null
    } catch (error) {
      if (error instanceof VaultError) return null
      throw error
    }
  }

  async function authorization(agentId: string): Promise<Record<string, string>> {
    const token = await tokenOf(agentId)
    if (token === null) return {}
    const basic = Buffer.from(`x-access-token:${token.reveal()}`).toString('base64')
    return { authorization: `Basic ${basic}` }
  }

  async function ask(address: string, options: Omit<PinnedRequest, 'addresses'>): Promise<IncomingMessage> {
    const { protocol, hostname, port } = new URL(address)
    const found = await locate(hostname, Number(port) || (protocol === 'https:' ? 443 : 80))
    if (!found.ok) throw new Error(`the git host was refused: ${found.fault}`)
    // Redirects are not followed, so the token never reaches another host.
    return requestPinned(address, { ...options, addresses: found.addresses })
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '', query = ''] = (request.url ?? '').split('?')
    const [, repository, what] = pathForm.exec(path) ?? []
    const ticket = ticketOf(request)
    if (ticket === null) return refuse(response, 401)
    if (repository === undefined || what === undefined || repository !== ticket.repository)
      return refuse(response, 404)
    const pushes =
      what === 'git-receive-pack' || new URLSearchParams(query).get('service') === 'git-receive-pack'
    if (pushes && !ticket.push) return refuse(response, 403)
    const disconnected = new AbortController()
    // Stops the upstream request when the client disconnects.
    response.once('close', () => disconnected.abort())
    const upstream = await ask(`${addressOf(repository)}.git/${what}${query ? `?${query}` : ''}`, {
      method: request.method === 'POST' ? 'POST' : 'GET',
      headers: { ...forwardedHeaders(request), ...(await authorization(ticket.agent)) },
      signal: AbortSignal.any([disconnected.signal, AbortSignal.timeout(gitCallSeconds * 1000)]),
      ...(request.method === 'POST' ? { body: request } : {}),
    })
    const { statusCode = 502, headers } = upstream
    const status = statusCode >= 300 && statusCode < 400 ? 502 : statusCode
    const type = headers['content-type']
    const encoding = headers['content-encoding']
    // Omits the host's challenge, which would make git prompt for credentials.
    response.writeHead(status, {
      ...(type ? { 'content-type': type } : {}),
      ...(encoding ? { 'content-encoding': encoding } : {}),
      'cache-control': 'no-store',
    })
    await pipeline(upstream, response)
  }

  return {
    open({ agentId, repository, mayPush }) {
      const until = clock.now().getTime() + gitCallSeconds * 1000
      const ticket = { agent: agentId, repository, push: mayPush, until }
      return { url: `${gitUrl()}/${repository}.git`, ticket: vault.seal(JSON.stringify(ticket), context) }
    },

    async mayPush(agentId, repository) {
      const headers = await authorization(agentId)
      if (!headers.authorization) return false
      const address = `${addressOf(repository)}.git/info/refs?service=git-receive-pack`
      const probe = await ask(address, { method: 'GET', headers, signal: AbortSignal.timeout(30_000) })
      probe.destroy()
      const type = probe.headers['content-type']
      return probe.statusCode === 200 && type === 'application/x-git-receive-pack-advertisement'
    },

    async handle(request, response) {
      try {
        await answer(request, response)
      } catch (error) {
        log.warn({ err: error }, 'could not reach the git host for an agent')
        if (response.headersSent) return void response.destroy()
        refuse(response, 502)
      }
    },
  }
}

function forwardedHeaders({ headers }: IncomingMessage): Record<string, string> {
  const names = ['accept', 'content-type', 'content-encoding', 'git-protocol']
  return Object.fromEntries(
    names.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
  )
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end()
}
