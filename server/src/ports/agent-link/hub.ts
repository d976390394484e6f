import { answerSeconds, closeCodes, type PlatformCalls } from '@roost/contracts/link/messages'
import type { WebSocket } from 'ws'
import type { Clock } from '../../kit/clock.ts'
import type { Ephemeral } from '../ephemeral/port.ts'
import type { Log } from '../log.ts'
import { createKnownAddresses } from './addresses.ts'
import { type Connection, createConnection } from './connection.ts'
import {
  type AgentLink,
  type CallOptions,
  LinkDown,
  type LinkedAgent,
  type LinkHandlers,
  type PlatformCallName,
  type PlatformRequest,
} from './port.ts'
import { createReplicas, presenceSeconds } from './replicas.ts'

/** The key of a link. */
export type LinkedKey = { keyId: string; agentId: string; ownerId: string }

/**
 * The links of this process, and calls through other processes. Each agent has one link: the newest wins, in
 * whichever process it was opened.
 */
export type AgentLinkHub = AgentLink & {
  /** Sets the handlers of agents' messages; call once, before the first `accept`. */
  serve(handlers: LinkHandlers): void
  /** Starts listening to other processes and sending pings; call before the first `accept`. */
  open(): Promise<void>
  /** Where agents reach the platform, as in the contracts: own addresses first, then those of other processes. */
  addresses(): string[]
  /** Takes over an upgraded socket of an agent whose key was checked; `ownerId` is the account of that key. */
  accept(socket: WebSocket, agent: LinkedAgent, ownerId: string): void
  /** Closes the touched links of this process (4001) whose key no longer works. */
  recheck(isTouched: (link: LinkedKey) => boolean): void
  /** Closes every link of this process (1001); agents reconnect elsewhere. */
  close(): Promise<void>
}

const pingSeconds = 30
const checkAgainMs = 5_000
/** Addresses are remembered for ten minutes, so a slow exchange loses none. */
const addressSeconds = 15

export function createAgentLinkHub(deps: {
  ephemeral: Pick<Ephemeral, 'publish' | 'subscribe' | 'get' | 'put'>
  /** Where agents reach this process. */
  ownAddresses(): readonly string[]
  /** Whether the key of an open link still works. */
  isKeyWorking(keyId: string): Promise<boolean>
  clock: Clock
  log: Log
}): AgentLinkHub {
  const { ephemeral, clock, log } = deps
  const addresses = createKnownAddresses({ ephemeral, own: deps.ownAddresses, clock, log })
  const links = new Map<string, { connection: Connection; openedAt: number; ownerId: string }>()
  const closing = new AbortController()
  let handlers: LinkHandlers | null = null

  const replicas = createReplicas({
    ephemeral,
    clock,
    log,
    local: {
      greeted: () => [...links.values()].filter(isGreeted).map(({ connection }) => connection.agent.agentId),
      giveWay(agentId, openedAt) {
        const link = links.get(agentId)
        if (link && link.openedAt <= openedAt) replace(agentId, link.connection)
      },
      call: callLocal,
      wake: wakeLocal,
      disconnect: disconnectLocal,
    },
  })

  function callLocal(...[agentId, t, request, timeoutMs, signal]: LocalCall): Promise<unknown> {
    const link = links.get(agentId)
    if (!link || !isGreeted(link)) return Promise.reject(new LinkDown())
    return link.connection.call(t, request, timeoutMs, signal)
  }

  function wakeLocal(agentId: string): boolean {
    const link = links.get(agentId)
    if (!link || !isGreeted(link)) return false
    link.connection.signal({ t: 'wake' })
    return true
  }

  function disconnectLocal(agentId: string, code: number, reason: string): void {
    links.get(agentId)?.connection.close(code, reason)
  }

  function replace(agentId: string, older: Connection): void {
    links.delete(agentId)
    older.close(closeCodes.replaced, 'replaced by a newer link')
  }

  /** Repeated while the database fails: no message of the agent has an effect without it. */
  async function checkKey(connection: Connection): Promise<void> {
    const { agentId, keyId } = connection.agent
    while (links.get(agentId)?.connection === connection && !closing.signal.aborted) {
      const works = await deps.isKeyWorking(keyId).catch(() => null)
      if (works === false) connection.close(closeCodes.badKey, 'the key of the agent does not work')
      if (works !== null) return
      await clock.wait(checkAgainMs, closing.signal)
    }
  }

  /** Handlers of one link, which also name the platform's addresses: at the hello, and after they changed. */
  function namingAddresses(all: LinkHandlers): LinkHandlers {
    let named: string | null = null
    const current = () => {
      const list = addresses.list()
      const isNew = named !== JSON.stringify(list)
      named = JSON.stringify(list)
      return isNew ? { platform_addresses: list } : {}
    }
    return {
      ...all,
      async hello(agent, message) {
        const answer = await all.hello(agent, message)
        named = null
        return { ...answer, ...current() }
      },
      beat: async (agent, message) => ({ ...(await all.beat(agent, message)), ...current() }),
    }
  }

  async function every(seconds: number, act: () => void): Promise<void> {
    while (!closing.signal.aborted) {
      await clock.waitAbout(seconds * 1000, closing.signal)
      if (!closing.signal.aborted) act()
    }
  }

  return {
    serve(handlersToUse) {
      handlers = handlersToUse
    },
    async open() {
      await addresses.refresh()
      await replicas.open()
      void every(presenceSeconds, replicas.repeat)
      void every(addressSeconds, () => void addresses.refresh())
      void every(pingSeconds, () => {
        for (const { connection } of links.values()) connection.ping()
      })
    },
    addresses: addresses.list,
    accept(socket, agent, ownerId) {
      if (!handlers || closing.signal.aborted) return socket.close(1001, 'not serving')
      const older = links.get(agent.agentId)
      if (older) replace(agent.agentId, older.connection)
      const openedAt = clock.now().getTime()
      const isCurrent = () => links.get(agent.agentId)?.connection === connection
      const connection: Connection = createConnection({
        socket,
        agent,
        handlers: namingAddresses(handlers),
        clock,
        log,
        onGreeted() {
          if (!isCurrent()) return
          replicas.announceGreeted(agent.agentId)
          handlers?.connected?.(agent)
        },
        onClosed() {
          if (!isCurrent()) return
          links.delete(agent.agentId)
          replicas.announceClosed(agent.agentId)
          handlers?.disconnected?.(agent)
        },
      })
      links.set(agent.agentId, { connection, openedAt, ownerId })
      replicas.announceOpened(agent.agentId, openedAt)
      // It may have been revoked during the handshake.
      void checkKey(connection)
    },
    async call<T extends PlatformCallName>(
      agentId: string,
      t: T,
      request: PlatformRequest<T>,
      options: CallOptions = {},
    ): Promise<PlatformCalls[T]['answer']> {
      const timeoutMs = (options.timeoutSeconds ?? answerSeconds) * 1000
      const answer = await (links.has(agentId)
        ? callLocal(agentId, t, request, timeoutMs, options.signal)
        : abortable(replicas.forward(agentId, t, request, timeoutMs), options.signal))
      // Validated against the schema of `t` in the process that holds the link.
      return answer as PlatformCalls[T]['answer']
    },
    isConnected(agentId) {
      const link = links.get(agentId)
      return link ? isGreeted(link) : replicas.holds(agentId)
    },
    isHere(agentId) {
      const link = links.get(agentId)
      return link !== undefined && isGreeted(link)
    },
    wake(agentId) {
      if (links.has(agentId)) wakeLocal(agentId)
      else replicas.wake(agentId)
    },
    disconnect(agentId, code = 1008, reason = 'the agent may no longer be linked') {
      if (links.has(agentId)) disconnectLocal(agentId, code, reason)
      else replicas.disconnect(agentId, code, reason)
    },
    recheck(isTouched) {
      for (const link of links.values())
        if (isTouched({ ...link.connection.agent, ownerId: link.ownerId })) void checkKey(link.connection)
    },
    async close() {
      closing.abort()
      for (const { connection } of links.values()) connection.close(1001, 'the platform stops')
      await replicas.close()
    },
  }
}

type LocalCall = [
  agentId: string,
  t: PlatformCallName,
  request: object,
  timeoutMs: number,
  signal?: AbortSignal,
]

function isGreeted({ connection }: { connection: Connection }): boolean {
  return connection.isGreeted()
}

/** Stops waiting when the signal aborts; the request itself ends by its timeout. */
function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
