import { setImmediate as nextTurn } from 'node:timers/promises'
import { socketCloseCodes } from '@roost/contracts/operations/sockets'
import type { WebSocket } from 'ws'
import type { AgentAccess } from '../../agents/access/index.ts'
import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import type { Outbox, StoredEvent } from '../../foundation/outbox/index.ts'
import type { IdentityChanges, SignedIn } from '../../identity/access/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Log } from '../../ports/log.ts'
import { type Connection, createConnection } from './connection.ts'
import type { CallerOf } from './credential.ts'
import { isSocketEvent, type Rendered, render } from './envelope.ts'
import { createHistory } from './history.ts'
import { eventId, type Start, startAfter } from './rules.ts'
import { createViewers, type Watcher } from './viewers.ts'
import { viewFor } from './visibility.ts'

export type Sockets = {
  /** Starts to listen for events; call when the relay runs. */
  open(): void
  /** Accepts the socket of an authorized caller. `lastEventId` is null for a new client. */
  accept(socket: WebSocket, caller: SignedIn, lastEventId: string | null): void
  /** Number of open sockets in this process. */
  clients(): number
  /** Closes every socket; clients reconnect to another process. */
  close(): Promise<void>
}

export type SocketsDeps = {
  outbox: Pick<Outbox, 'on' | 'after' | 'storedRange' | 'position' | 'follow'>
  agentRecords: Pick<AgentRecords, 'byId'>
  agentAccess: Pick<AgentAccess, 'accessibleNames' | 'permittedTargets'>
  callerOf: CallerOf
  changes: Pick<IdentityChanges, 'on'>
  clock: Clock
  log: Log
}

const pingSeconds = 30
/** Work before the event loop may send data. Otherwise clients would look slow while this process is busy. */
const maxPerTurn = { events: 8, messages: 500 }
/** Time for clients to close their side. */
const closeMs = 500
const retryMs = 1_000

/** Sends events to their viewers, live and as a replay of missed ones. */
export function createSockets(deps: SocketsDeps): Sockets {
  const { outbox, agentRecords, agentAccess, clock, log } = deps
  const connections = new Set<Connection>()
  const history = createHistory(outbox)
  const closing = new AbortController()
  /** Position up to which live sockets have got their events. */
  let delivered = 0
  const sinceTurn = { events: 0, messages: 0 }
  let replays = 0
  /** While a socket is open. */
  let following: Promise<() => void> | null = null

  const viewers = createViewers<Connection>({
    ...deps,
    permittedTargets: agentAccess.permittedTargets,
    onLost(connection, why) {
      if (why === 'ended') connection.close(socketCloseCodes.unauthorized, 'the credential has ended')
      else connection.close(socketCloseCodes.failed, 'the credential could not be checked')
    },
  })

  /** Synchronous without sockets: each process gets several events of each run. */
  function onEvent(event: StoredEvent): Promise<void> | void {
    if (connections.size > 0) return sendEvent(event)
    if (!event.signal) delivered = event.position
  }

  async function sendEvent(event: StoredEvent): Promise<void> {
    if (isSocketEvent(event)) {
      const agents = await agentsWhenKnown(event)
      if (agents) deliver(render(event), agents)
    }
    if (!event.signal) delivered = event.position
    await yieldTurn()
  }

  function deliver(rendered: Rendered, agents: (Agent | null)[]): void {
    for (const { viewer, sockets } of viewers.all()) {
      const view = viewFor(viewer, rendered.event, agents)
      if (!view) continue
      for (const connection of sockets) connection.sendLive(rendered, view)
      sinceTurn.messages += sockets.size
    }
    sinceTurn.events += 1
  }

  async function yieldTurn(): Promise<void> {
    if (sinceTurn.events < maxPerTurn.events && sinceTurn.messages < maxPerTurn.messages) return
    sinceTurn.events = 0
    sinceTurn.messages = 0
    await nextTurn()
  }

  /** During an outage of the database events wait, because viewers cannot be checked. Null when this process stops. */
  async function agentsWhenKnown(event: StoredEvent): Promise<(Agent | null)[] | null> {
    while (!closing.signal.aborted) {
      try {
        return await agentsOf(event)
      } catch (error) {
        log.warn({ err: error, event: event.type }, 'an event waits until its viewers are known')
        await clock.wait(retryMs, closing.signal)
      }
    }
    return null
  }

  /** Reads the event's agents while all viewers are up to date, so that both have the same state. */
  async function agentsOf(event: StoredEvent): Promise<(Agent | null)[]> {
    for (;;) {
      await viewers.known()
      const agents = await Promise.all(event.agent_ids.map((id) => agentRecords.byId(id)))
      if (viewers.areKnown()) return agents
    }
  }

  async function startClient(
    connection: Connection,
    watcher: Watcher<Connection>,
    lastEventId: string | null,
  ) {
    await Promise.all([viewers.known(), following])
    const { caller } = watcher.viewer
    const accessible_agents = await agentAccess.accessibleNames(caller)
    const start = lastEventId === null ? { after: delivered } : await startOf(lastEventId)
    if (!connection.isOpen()) return
    const from = 'after' in start && lastEventId !== null ? start.after : delivered
    connection.send({
      type: 'connected',
      _eid: eventId(from),
      ts: timestamp(clock.now()),
      user: caller.user.username,
      scope: caller.kind === 'session' ? 'session' : caller.key.scope,
      accessible_agents,
    })
    if ('resync' in start) return connection.resync(start.resync, delivered)
    connection.startFrom(from)
    await catchUp(connection, watcher)
  }

  async function startOf(lastEventId: string): Promise<Start> {
    try {
      return startAfter(lastEventId, await outbox.storedRange())
    } catch (error) {
      log.warn({ err: error }, 'events to send again could not be found')
      return { resync: 'replay_error' }
    }
  }

  /** Replays missed events until the client is live. No event can come between the last check and that step. */
  async function catchUp(connection: Connection, watcher: Watcher<Connection>): Promise<void> {
    replays += 1
    try {
      while (connection.isOpen() && connection.position() < delivered) {
        const events = await history.read(connection.position(), delivered)
        if (events[0]?.event.position !== connection.position() + 1) {
          return connection.resync('trimmed', delivered)
        }
        for (const rendered of events) {
          const agents = isSocketEvent(rendered.event) ? await agentsOf(rendered.event) : null
          if (!connection.isOpen()) return
          const view = agents && viewFor(watcher.viewer, rendered.event, agents)
          await connection.replay(rendered, view)
        }
      }
      connection.goLive(connection.position())
    } catch (error) {
      log.warn({ err: error }, 'events could not be sent again')
      connection.resync('replay_error', delivered)
    } finally {
      replays -= 1
    }
  }

  async function every(seconds: number, act: () => void): Promise<void> {
    while (!closing.signal.aborted) {
      await clock.waitAbout(seconds * 1000, closing.signal)
      if (!closing.signal.aborted) act()
    }
  }

  return {
    open() {
      outbox.on('*', onEvent)
      delivered = outbox.position()
      void every(pingSeconds, () => {
        for (const connection of connections) connection.ping()
        viewers.recheck()
        if (replays === 0) history.clear()
      })
    },
    accept(socket, caller, lastEventId) {
      if (closing.signal.aborted) return socket.close(socketCloseCodes.stopping, 'the platform stops')
      const connection = createConnection(socket, {
        async refresh() {
          await viewers.known()
          return agentAccess.accessibleNames(watcher.viewer.caller)
        },
        error: (error) => log.debug({ err: error }, 'socket error'),
      })
      const watcher = viewers.join(caller, connection)
      connections.add(connection)
      following ??= outbox.follow()
      void connection.closed.then(() => {
        connections.delete(connection)
        viewers.leave(connection, watcher)
        if (connections.size > 0) return
        void following?.then((stop) => stop())
        following = null
      })
      startClient(connection, watcher, lastEventId).catch((error: unknown) => {
        log.warn({ err: error }, 'a socket could not be opened')
        connection.close(socketCloseCodes.failed, 'the platform could not open the socket')
      })
    },
    clients: () => connections.size,
    async close() {
      closing.abort()
      const open = [...connections]
      for (const connection of open) connection.close(socketCloseCodes.stopping, 'the platform stops')
      const allClosed = new AbortController()
      const grace = clock.wait(closeMs, allClosed.signal)
      await Promise.race([Promise.all(open.map(({ closed }) => closed)), grace])
      allClosed.abort()
      for (const connection of open) connection.terminate()
    },
  }
}
