import { setImmediate as soon } from 'node:timers/promises'
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
import { isCarried, type Rendered, render } from './envelope.ts'
import { createHistory } from './history.ts'
import { eventId, type Start, startAfter } from './rules.ts'
import { createViewers, type Watching } from './viewers.ts'
import { shownTo } from './visibility.ts'

export type Sockets = {
  /** Starts to hear events; call once the relay runs. */
  open(): void
  /** Takes an upgraded socket of a caller who was checked. `lastEventId`: null for a client that starts anew. */
  accept(socket: WebSocket, caller: SignedIn, lastEventId: string | null): void
  /** How many sockets are open in this process. */
  clients(): number
  /** Closes every socket; clients connect again elsewhere. */
  close(): Promise<void>
}

export type SocketsDeps = {
  outbox: Pick<Outbox, 'on' | 'after' | 'kept' | 'position'>
  agentRecords: Pick<AgentRecords, 'byId'>
  agentAccess: Pick<AgentAccess, 'accessibleNames' | 'permittedTargets'>
  callerOf: CallerOf
  changes: Pick<IdentityChanges, 'on'>
  clock: Clock
  log: Log
}

const pingSeconds = 30
/** After so much the sockets get a turn: a client is slow when the network is, not while we are busy. */
const perTurn = { events: 8, messages: 500 }
/** How long clients may take to say goodbye. */
const closeMs = 500
const retryMs = 1_000

/** The events of all agents to everybody who may see them, live and from where a client left off. */
export function createSockets(deps: SocketsDeps): Sockets {
  const { outbox, agentRecords, agentAccess, clock, log } = deps
  const connections = new Set<Connection>()
  const history = createHistory(outbox)
  const closing = new AbortController()
  /** Up to here events were given to the sockets that are live. */
  let heard = 0
  const sinceTurn = { events: 0, messages: 0 }
  let comingBack = 0

  const viewers = createViewers<Connection>({
    ...deps,
    permittedTargets: agentAccess.permittedTargets,
    onLost(connection, why) {
      if (why === 'ended') connection.close(socketCloseCodes.unauthorized, 'the credential has ended')
      else connection.close(socketCloseCodes.failed, 'the credential could not be checked')
    },
  })

  async function hear(event: StoredEvent): Promise<void> {
    if (isCarried(event) && connections.size > 0) {
      const agents = await untilKnown(event)
      if (agents) deliver(render(event), agents)
    }
    if (!event.signal) heard = event.position
    await giveTurn()
  }

  function deliver(rendered: Rendered, agents: (Agent | null)[]): void {
    for (const { viewer, sockets } of viewers.all()) {
      const shown = shownTo(viewer, rendered.event, agents)
      if (!shown) continue
      for (const connection of sockets) connection.take(rendered, shown)
      sinceTurn.messages += sockets.size
    }
    sinceTurn.events += 1
  }

  async function giveTurn(): Promise<void> {
    if (sinceTurn.events < perTurn.events && sinceTurn.messages < perTurn.messages) return
    sinceTurn.events = 0
    sinceTurn.messages = 0
    await soon()
  }

  /** Without the database nobody knows who may see what: events wait for it. Null when this process stops. */
  async function untilKnown(event: StoredEvent): Promise<(Agent | null)[] | null> {
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

  /** The agents that the event names, as they are now, at a moment at which all viewers are known too. */
  async function agentsOf(event: StoredEvent): Promise<(Agent | null)[]> {
    for (;;) {
      await viewers.known()
      const agents = await Promise.all(event.agent_ids.map((id) => agentRecords.byId(id)))
      if (viewers.areKnown()) return agents
    }
  }

  async function welcome(connection: Connection, watching: Watching<Connection>, lastEventId: string | null) {
    await viewers.known()
    const { caller } = watching.viewer
    const accessible_agents = await agentAccess.accessibleNames(caller)
    const start = lastEventId === null ? { after: heard } : await startOf(lastEventId)
    if (!connection.isOpen()) return
    const from = 'after' in start && lastEventId !== null ? start.after : heard
    connection.send({
      type: 'connected',
      _eid: eventId(from),
      ts: timestamp(clock.now()),
      user: caller.user.username,
      scope: caller.kind === 'session' ? 'session' : caller.key.scope,
      accessible_agents,
    })
    if ('resync' in start) return connection.resync(start.resync, heard)
    connection.startFrom(from)
    await catchUp(connection, watching)
  }

  async function startOf(lastEventId: string): Promise<Start> {
    try {
      return startAfter(lastEventId, await outbox.kept())
    } catch (error) {
      log.warn({ err: error }, 'events to send again could not be found')
      return { resync: 'replay_error' }
    }
  }

  /** Sends what the client has missed until it is where the others are; that step and the last look are one. */
  async function catchUp(connection: Connection, watching: Watching<Connection>): Promise<void> {
    comingBack += 1
    try {
      while (connection.isOpen() && connection.position() < heard) {
        const events = await history.read(connection.position(), heard)
        if (events[0]?.event.position !== connection.position() + 1) {
          return connection.resync('trimmed', heard)
        }
        for (const rendered of events) {
          const agents = isCarried(rendered.event) ? await agentsOf(rendered.event) : null
          if (!connection.isOpen()) return
          const shown = agents && shownTo(watching.viewer, rendered.event, agents)
          await connection.replay(rendered, shown)
        }
      }
      connection.goLive(connection.position())
    } catch (error) {
      log.warn({ err: error }, 'events could not be sent again')
      connection.resync('replay_error', heard)
    } finally {
      comingBack -= 1
    }
  }

  async function every(seconds: number, act: () => void): Promise<void> {
    while (!closing.signal.aborted) {
      await clock.wait(seconds * 1000, closing.signal)
      if (!closing.signal.aborted) act()
    }
  }

  return {
    open() {
      outbox.on('*', hear)
      heard = outbox.position()
      void every(pingSeconds, () => {
        for (const connection of connections) connection.ping()
        viewers.recheck()
        if (comingBack === 0) history.clear()
      })
    },
    accept(socket, caller, lastEventId) {
      if (closing.signal.aborted) return socket.close(socketCloseCodes.stopping, 'the platform stops')
      const connection = createConnection(socket, {
        async refresh() {
          await viewers.known()
          return agentAccess.accessibleNames(watching.viewer.caller)
        },
        error: (error) => log.debug({ err: error }, 'socket error'),
      })
      const watching = viewers.join(caller, connection)
      connections.add(connection)
      void connection.closed.then(() => {
        connections.delete(connection)
        viewers.leave(connection, watching)
      })
      welcome(connection, watching, lastEventId).catch((error: unknown) => {
        log.warn({ err: error }, 'a socket could not be opened')
        connection.close(socketCloseCodes.failed, 'the platform could not open the socket')
      })
    },
    clients: () => connections.size,
    async close() {
      closing.abort()
      const open = [...connections]
      for (const connection of open) connection.close(socketCloseCodes.stopping, 'the platform stops')
      const gone = new AbortController()
      const grace = clock.wait(closeMs, gone.signal)
      await Promise.race([Promise.all(open.map(({ closed }) => closed)), grace])
      gone.abort()
      for (const connection of open) connection.terminate()
    },
  }
}
