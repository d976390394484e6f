import type { ChatMessage, ChatSession } from '@roost/contracts/conversations/chat'
import { TimestampInput } from '@roost/contracts/kit/primitives'
import type { SignedIn } from '../../identity/access/caller.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db, Executor, Tx } from '../../ports/database/port.ts'
import { holderOf } from '../../runs/dispatch/index.ts'
import type { Executions } from '../../runs/executions/index.ts'
import { isAdmin } from '../../runs/executions/index.ts'
import { shownMessage, shownSession } from './rules.ts'
import { blankSession, chatStore, type Place, type SessionRow } from './store.ts'
import { refuseWhileTurn } from './turn-in-progress.ts'

export type SessionsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  executions: Pick<Executions, 'inFlight'>
  link: Pick<AgentLink, 'call' | 'isConnected'>
}

/** Who talks with which agent. */
export type Party = { caller: SignedIn; agent: { id: string; name: string } }
export type Page = { limit: number; offset: number }

export type Sessions = ReturnType<typeof createSessions>

/** Conversations as they are listed, read, begun and ended. A conversation of somebody else is not there. */
export function createSessions({ db, clock, executions, link }: SessionsDeps) {
  const store = chatStore(db)

  async function shown(agentName: string, rows: readonly SessionRow[]): Promise<ChatSession[]> {
    const inFlight = await executions.inFlight(
      db,
      rows.map((row) => row.id),
    )
    return rows.map((row) => shownSession(row, agentName, inFlight.get(row.id) ?? null))
  }

  async function shownOne(agentName: string, row: SessionRow): Promise<ChatSession> {
    const inFlight = await executions.inFlight(db, [row.id])
    return shownSession(row, agentName, inFlight.get(row.id) ?? null)
  }

  /** Throws `session_not_found`. An admin reads those of others. */
  async function readable({ caller, agent }: Party, id: string): Promise<SessionRow> {
    const row = await store.session(id)
    const isOwn = row?.holder_id === holderOf(caller)
    if (!row || row.agent_id !== agent.id || !(isOwn || isAdmin(caller))) throw new Fault('session_not_found')
    return row
  }

  /** Throws `session_not_found` for those of others, admins included: nobody speaks in another's name. */
  async function own({ caller, agent }: Party, id: string, on: Executor = db): Promise<SessionRow> {
    const row = await chatStore(on).session(id)
    if (!row || row.agent_id !== agent.id || row.holder_id !== holderOf(caller)) {
      throw new Fault('session_not_found')
    }
    return row
  }

  /** The runtime's live process of a conversation is of no more use. */
  function dropLive(row: SessionRow): void {
    if (!link.isConnected(row.agent_id)) return
    // An agent that is out of reach ends idle processes by itself.
    link.call(row.agent_id, 'session.drop', { session_id: row.id }).catch(() => {})
  }

  function newSession({ caller, agent }: Party, title: string | null, isCurrent: boolean): SessionRow {
    return {
      id: newId(),
      agent_id: agent.id,
      holder_id: holderOf(caller),
      user_id: caller.user.id,
      user_email: caller.user.email,
      title,
      kind: 'chat',
      current_key: isCurrent ? currentKey({ caller, agent }) : null,
      started_at: timestamp(clock.now()),
      ...blankSession,
    }
  }

  return {
    own,

    /** Any conversation that the agent holds. Throws `session_not_found`. */
    async withAgent(on: Executor, agentId: string, id: string): Promise<SessionRow> {
      const row = await chatStore(on).session(id)
      if (row?.agent_id !== agentId) throw new Fault('session_not_found')
      return row
    },

    /** The caller's current conversation with the agent; begun when there is none. */
    async ensureCurrent(tx: Tx, party: Party): Promise<SessionRow> {
      const inTx = chatStore(tx)
      const present = await inTx.current(currentKey(party))
      if (present) return present
      const row = newSession(party, null, true)
      if (await inTx.insertSession(row)) return row
      const taken = await inTx.current(currentKey(party))
      if (!taken) throw new Error('The current conversation came and went.')
      return taken
    },

    async create(party: Party, asked: { title: string | null; make_current: boolean }): Promise<ChatSession> {
      const row = await db.atomically(async (tx) => {
        const inTx = chatStore(tx)
        // Somebody else may take the current place between the two steps; the next look drops them too.
        for (let look = 0; look < 5; look += 1) {
          if (asked.make_current) await inTx.dropCurrent(currentKey(party))
          const fresh = newSession(party, asked.title, asked.make_current)
          if (await inTx.insertSession(fresh)) return fresh
        }
        throw new Fault('conflict', 'Another conversation is being made the current one.')
      })
      return shownSession(row, party.agent.name, null)
    },

    async list(
      party: Party,
      query: Page & { status?: 'active' | 'closed'; all?: boolean },
    ): Promise<{ sessions: ChatSession[]; total: number }> {
      const { caller, agent } = party
      if (query.all && !isAdmin(caller)) throw new Fault('admin_required')
      const filter = {
        agentId: agent.id,
        holderId: query.all ? null : holderOf(caller),
        ...(query.status ? { status: query.status } : {}),
      }
      const [rows, total] = [await store.sessions(filter, query), await store.countSessions(filter)]
      return { sessions: await shown(agent.name, rows), total }
    },

    /** `isForeign`: an admin reads somebody else's, which is audited. */
    async read(
      party: Party,
      id: string,
      query: { limit: number; before?: string },
    ): Promise<{ session: ChatSession; messages: ChatMessage[]; isForeign: boolean }> {
      const row = await readable(party, id)
      const rows = await store.messages(id, query.limit, await boundOf(query.before, id))
      return {
        session: await shownOne(party.agent.name, row),
        messages: rows.map((message) => shownMessage(message, party.agent.name)),
        isForeign: row.holder_id !== holderOf(party.caller),
      }
    },

    async history({ caller, agent }: Party): Promise<ChatMessage[]> {
      const current = await store.current(currentKey({ caller, agent }))
      if (!current) return []
      const rows = await store.messages(current.id, 1000)
      return rows.map((row) => shownMessage(row, agent.name))
    },

    async persistentHistory(
      { caller, agent }: Party,
      limit: number,
    ): Promise<{ messages: ChatMessage[]; total: number }> {
      const holder = holderOf(caller)
      const rows = await store.messagesOfHolder(agent.id, holder, limit)
      const total = await store.countMessagesOfHolder(agent.id, holder)
      return { messages: rows.map((row) => shownMessage(row, agent.name)), total }
    },

    /** Closing a closed one changes nothing. */
    async close(party: Party, id: string): Promise<void> {
      const row = await own(party, id)
      if (await store.close(id, timestamp(clock.now()))) dropLive(row)
    },

    /** Closes the current conversation; null when there was none. */
    async closeCurrent(party: Party): Promise<string | null> {
      const current = await store.current(currentKey(party))
      if (!current) return null
      await store.close(current.id, timestamp(clock.now()))
      dropLive(current)
      return current.id
    },

    async reset(party: Party, id: string): Promise<ChatSession> {
      const row = await own(party, id)
      const fresh = await db.atomically(async (tx) => {
        await refuseWhileTurn(executions, tx, id)
        await chatStore(tx).forgetRuntime(id)
        return chatStore(tx).session(id)
      })
      dropLive(row)
      return shownSession(fresh ?? row, party.agent.name, null)
    },

    async remove(party: Party, id: string): Promise<void> {
      const row = await own(party, id)
      await db.atomically(async (tx) => {
        await refuseWhileTurn(executions, tx, id)
        await chatStore(tx).remove(id)
      })
      dropLive(row)
    },

    /** Hook of the registry: conversations end with their agent. */
    agentDeleted: (tx: Tx, agentId: string) => chatStore(tx).removeOfAgent(agentId),
  }

  /** `before` is the id of a message of this session, else a time as bodies have it. */
  async function boundOf(before: string | undefined, sessionId: string): Promise<{ before?: Place }> {
    if (before === undefined) return {}
    const message = await store.message(before)
    if (message?.session_id === sessionId) return { before: message }
    const { data: time } = TimestampInput.safeParse(before)
    if (time === undefined) {
      const msg = 'must be the id of a message of this conversation, or a time'
      const issues = [{ loc: ['query', 'before'], msg, type: 'value_error' }]
      throw new Fault('validation_error', undefined, { issues })
    }
    const turn = await store.turnFrom(sessionId, time)
    return turn ? { before: turn } : {}
  }
}

function currentKey({ caller, agent }: Party): string {
  return `${agent.id}:${holderOf(caller)}`
}
