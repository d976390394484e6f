import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Role } from '@roost/contracts/kit/access'
import { createAgentAccess } from '../../../agents/access/index.ts'
import { type Agent, agentStore, blankRow, createAgentRecords } from '../../../agents/records/index.ts'
import { startRelay } from '../../../background/relay.ts'
import { createOutbox, type NewEvent, type Outbox } from '../../../foundation/outbox/index.ts'
import { createRateLimits } from '../../../foundation/rate-limits/index.ts'
import { serveSockets } from '../../../http/sockets.ts'
import type { SignedIn } from '../../../identity/access/index.ts'
import { createWorld, openIdentity, type World } from '../../../identity/test/fixture.ts'
import { timestamp } from '../../../kit/clock.ts'
import { newId } from '../../../kit/ids.ts'
import type { Db, Tx } from '../../../ports/database/port.ts'
import { silentLog } from '../../../ports/log.ts'
import { createCallerOf, createSockets, createTickets, liveSocketRoutes } from '../index.ts'
import { type Client, dial } from './client.ts'

type Shares = { agent_shares: Record<'agent_id' | 'email' | 'id' | 'shared_by_id' | 'created_at', string> }

export type Process = Awaited<ReturnType<typeof startProcess>>

/** The socket parts of a platform process: real features and a real listener, without containers. */
export async function startProcess(db: Db, world: World = createWorld()) {
  const { clock, ephemeral } = world
  const identity = await openIdentity(db, world)
  if (ephemeral.kind === 'memory') world.signingKeys ??= identity.signingKeys
  const outbox = createOutbox({ db, ephemeral, log: silentLog, clock })
  const agentRecords = createAgentRecords({ db, ephemeral, clock })
  await agentRecords.open()
  const permitted = new Map<string, Set<string>>()
  const permittedTargets = async (id: string) => permitted.get(id) ?? new Set<string>()
  const agentAccess = createAgentAccess({ agentRecords, permittedTargets, isConnectorOn: async () => true })
  const tickets = createTickets({ ephemeral, limits: createRateLimits({ ephemeral, clock }) })
  const { sessions, keys, changes } = identity
  const callerOf = createCallerOf({ sessions, keys })
  const sockets = createSockets({
    outbox,
    agentRecords,
    agentAccess,
    callerOf,
    changes,
    clock,
    log: silentLog,
  })
  const relay = await startRelay({ outbox, ephemeral, clock, log: silentLog, random: () => 0 })
  outbox.on('*', (event) => {
    if (!event.signal && event.type.startsWith('agent.')) agentRecords.markStale(event.agent_ids)
  })
  sockets.open()
  const server: Server = createServer()
  const routes = liveSocketRoutes({ sockets, tickets, callerOf, verifyKey: keys.verifyKey, agentRecords })
  const served = serveSockets(server, routes, silentLog)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`

  const atomically = <T>(work: (tx: Tx) => Promise<T>) => db.atomically(work)

  return {
    ...identity,
    clock,
    url,
    outbox,
    agentRecords,
    agentAccess,
    sockets,
    tickets,
    permitted,

    /** A person with a session. */
    async person(role: Role = 'user'): Promise<SignedIn & { kind: 'session' }> {
      const account = await identity.addUser(role)
      const { access_token } = await sessions.issue(account, { mode: 'email' })
      const caller = await sessions.verifySession(access_token)
      if (!caller) throw new Error('A new session is refused.')
      return caller
    },

    /** An open socket of a person, after its `connected` message. */
    async watch(caller: SignedIn, lastEventId?: string): Promise<Client> {
      const ticket = await tickets.mint(caller)
      const after = lastEventId === undefined ? '' : `&last_event_id=${lastEventId}`
      const client = await dial(`${url}/ws?ticket=${ticket}${after}`)
      await client.next('connected')
      return client
    },
    watchWithKey: (key: string, more = '') => dial(`${url}/ws/events?token=${key}${more}`),

    async addAgent(owner: SignedIn, over: { name?: string; ephemeral?: string } = {}): Promise<Agent> {
      const id = await atomically(async (tx) => {
        const row = {
          ...blankRow(over.name ?? `agent-${newId().toLowerCase()}`, timestamp(clock.now())),
          owner_id: owner.user.id,
          owner: owner.user.username,
          state: 'ready' as const,
          ephemeral: over.ephemeral ?? null,
        }
        await agentStore(tx).insert(row)
        agentRecords.changed(tx, row.id)
        return row.id
      })
      const agent = await agentRecords.byId(id)
      if (!agent) throw new Error('A new agent is missing.')
      return agent
    },

    share: (agent: Agent, email: string | null) =>
      atomically(async (tx) => {
        const row = {
          agent_id: agent.id,
          email: email ?? '',
          id: newId(),
          shared_by_id: agent.owner_id,
          created_at: timestamp(clock.now()),
        }
        await tx.withTables<Shares>().insertInto('agent_shares').values(row).execute()
        agentRecords.changed(tx, agent.id)
      }),

    unshare: (agent: Agent, email: string | null, event?: NewEvent) =>
      atomically(async (tx) => {
        await tx
          .withTables<Shares>()
          .deleteFrom('agent_shares')
          .where('agent_id', '=', agent.id)
          .where('email', '=', email ?? '')
          .execute()
        agentRecords.changed(tx, agent.id)
        if (event) await outbox.append(tx, event, clock.now())
      }),

    /** Appends an event about agents. */
    about: (agents: readonly Agent[], fields: Record<string, unknown> = {}, more: Partial<NewEvent> = {}) =>
      atomically((tx) => outbox.append(tx, eventAbout(agents, fields, more), clock.now())),

    async [Symbol.asyncDispose]() {
      await sockets.close()
      served.close()
      server.close()
      await relay.stop()
      await agentRecords.close()
      await identity[Symbol.asyncDispose]()
    },
  }
}

/** Resolves when this process has delivered the event at `position`. */
export async function delivered(outbox: Pick<Outbox, 'position' | 'on'>, position: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = outbox.on('*', (event) => {
    if (event.position >= position) resolve()
  })
  if (outbox.position() >= position) resolve()
  await promise
  stop()
}

export function eventAbout(
  agents: readonly Agent[],
  fields: Record<string, unknown> = {},
  more: Partial<NewEvent> = {},
): NewEvent {
  return {
    type: 'execution.created',
    agent_names: agents.map(({ name }) => name),
    agent_ids: agents.map(({ id }) => id),
    fields,
    ...more,
  }
}
