import type { ChatMessage, ChatSession, SessionChanges } from '@roost/contracts/conversations/chat'
import { TimestampInput } from '@roost/contracts/kit/primitives'
import type { StreamAnswer } from '../../http/route.ts'
import { accountPrincipal, type SignedIn } from '../../identity/access/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db, Executor, Tx } from '../../ports/database/port.ts'
import { holderOf } from '../../runs/dispatch/index.ts'
import type { Executions } from '../../runs/executions/index.ts'
import { isAdmin } from '../../runs/executions/index.ts'
import { fillBranch } from './branch.ts'
import { pictureAnswer } from './pictures.ts'
import { idleUnshared, isOfPrincipal, messageView, sessionView } from './rules.ts'
import { shareStore } from './share-store.ts'
import { blankSession, chatStore, type MessagePosition, type MessageRow, type SessionRow } from './store.ts'
import { requireNoTurn } from './turn-in-progress.ts'

export type SessionsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  executions: Pick<Executions, 'inFlight'>
  link: Pick<AgentLink, 'call' | 'isConnected'>
}

/** A caller and an agent. */
export type Party = { caller: SignedIn; agent: { id: string; name: string } }
export type Page = { limit: number; offset: number }

export type Sessions = ReturnType<typeof createSessions>

/** Lists, reads, creates and closes conversations. Those of other people look like unknown ones. */
export function createSessions({ db, clock, executions, link }: SessionsDeps) {
  const store = chatStore(db)

  async function sessionViews(agentName: string, rows: readonly SessionRow[]): Promise<ChatSession[]> {
    const ids = rows.map((row) => row.id)
    const [inFlight, shares] = [await executions.inFlight(db, ids), await shareStore(db).countsOf(ids)]
    return rows.map((row) =>
      sessionView(row, agentName, {
        inFlightExecutionId: inFlight.get(row.id) ?? null,
        shareCount: shares.get(row.id) ?? 0,
      }),
    )
  }

  async function oneSessionView(agentName: string, row: SessionRow): Promise<ChatSession> {
    const [view] = await sessionViews(agentName, [row])
    if (!view) throw new Error('One session in, none out.')
    return view
  }

  /** Throws `session_not_found`. Admins may read every conversation. */
  async function findReadable({ caller, agent }: Party, id: string): Promise<SessionRow> {
    const row = await store.session(id)
    const isOwn = row?.holder_id === holderOf(caller)
    if (!row || row.agent_id !== agent.id || !(isOwn || isAdmin(caller))) throw new Fault('session_not_found')
    return row
  }

  /**
   * Throws `session_not_found` for conversations of others, even for admins: nobody writes in another person's name.
   */
  async function own({ caller, agent }: Party, id: string, on: Executor = db): Promise<SessionRow> {
    const row = await chatStore(on).session(id)
    if (!row || row.agent_id !== agent.id || row.holder_id !== holderOf(caller)) {
      throw new Fault('session_not_found')
    }
    return row
  }

  /** Drops the runtime's live process of a conversation. */
  function dropLiveProcess(row: SessionRow): void {
    if (!link.isConnected(row.agent_id)) return
    // An unreachable agent ends idle processes by itself.
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

  /** A page of messages before a bound, in order. Throws `validation_error` for an invalid bound. */
  async function page(id: string, query: { limit: number; before?: string }): Promise<MessageRow[]> {
    return store.messages(id, query.limit, await pageBound(query.before, id))
  }

  return {
    own,
    findReadable,
    page,

    /**
     * Any conversation with the agent; for a run that works for somebody other than the owner, only its own or one of
     * its principal. Throws `session_not_found`.
     */
    async namedBySelfTask(on: Executor, { caller, agent }: Party, id: string): Promise<SessionRow> {
      const row = await chatStore(on).session(id)
      if (row?.agent_id !== agent.id) throw new Fault('session_not_found')
      const limited = caller.kind === 'key' && caller.run && caller.run.reach !== 'owner' ? caller.key : null
      const held = { holderId: row.holder_id, account: accountPrincipal(row.user_id) }
      const isOwn = row.holder_id === holderOf(caller)
      if (limited && !isOwn && !isOfPrincipal(held, limited.principal)) throw new Fault('session_not_found')
      return row
    },

    /** Returns the caller's current conversation with the agent; creates one if needed. */
    async ensureCurrent(tx: Tx, party: Party): Promise<SessionRow> {
      const txStore = chatStore(tx)
      const existing = await txStore.current(currentKey(party))
      if (existing) return existing
      const row = newSession(party, null, true)
      if (await txStore.insertSession(row)) return row
      const concurrent = await txStore.current(currentKey(party))
      if (!concurrent) throw new Error('The current conversation came and went.')
      return concurrent
    },

    async create(
      party: Party,
      request: { title: string | null; make_current: boolean },
    ): Promise<ChatSession> {
      const row = await db.atomically(async (tx) => {
        const txStore = chatStore(tx)
        // Another request may create a current session between the two steps; the next attempt replaces it.
        for (let attempt = 0; attempt < 5; attempt += 1) {
          if (request.make_current) await txStore.dropCurrent(currentKey(party))
          const created = newSession(party, request.title, request.make_current)
          if (await txStore.insertSession(created)) return created
        }
        throw new Fault('conflict', 'Another conversation is being made the current one.')
      })
      return sessionView(row, party.agent.name, idleUnshared)
    },

    async list(
      party: Party,
      query: Page & {
        status?: 'active' | 'closed'
        archived: 'exclude' | 'only' | 'include'
        all?: boolean
        search?: string | undefined
      },
    ): Promise<{ sessions: ChatSession[]; total: number }> {
      const { caller, agent } = party
      if (query.all && !isAdmin(caller)) throw new Fault('admin_required')
      const filter = {
        agentId: agent.id,
        holderId: query.all ? null : holderOf(caller),
        archived: query.archived,
        ...(query.status ? { status: query.status } : {}),
        ...(query.search ? { search: query.search } : {}),
      }
      const [rows, total] = [await store.sessions(filter, query), await store.countSessions(filter)]
      return { sessions: await sessionViews(agent.name, rows), total }
    },

    /** `isForeign`: an admin reads another person's conversation, which is audited. */
    async read(
      party: Party,
      id: string,
      query: { limit: number; before?: string },
    ): Promise<{ session: ChatSession; messages: ChatMessage[]; isForeign: boolean }> {
      const row = await findReadable(party, id)
      const rows = await page(id, query)
      return {
        session: await oneSessionView(party.agent.name, row),
        messages: rows.map((message) => messageView(message, party.agent.name)),
        isForeign: row.holder_id !== holderOf(party.caller),
      }
    },

    /** Throws `session_not_found`, `file_not_found`. `isForeign` as in `read`. */
    async picture(
      party: Party,
      id: string,
      pictureId: string,
    ): Promise<{ picture: StreamAnswer; isForeign: boolean; userId: string }> {
      const row = await findReadable(party, id)
      const picture = await pictureAnswer(db, row.id, pictureId)
      return { picture, isForeign: row.holder_id !== holderOf(party.caller), userId: row.user_id }
    },

    async history({ caller, agent }: Party): Promise<ChatMessage[]> {
      const current = await store.current(currentKey({ caller, agent }))
      if (!current) return []
      const rows = await store.messages(current.id, 1000)
      return rows.map((row) => messageView(row, agent.name))
    },

    async persistentHistory(
      { caller, agent }: Party,
      limit: number,
    ): Promise<{ messages: ChatMessage[]; total: number }> {
      const holder = holderOf(caller)
      const rows = await store.messagesOfHolder(agent.id, holder, limit)
      const total = await store.countMessagesOfHolder(agent.id, holder)
      return { messages: rows.map((row) => messageView(row, agent.name)), total }
    },

    /** Also for closed conversations. An archived one is never the current one. */
    async update(party: Party, id: string, changes: SessionChanges): Promise<ChatSession> {
      const row = await own(party, id)
      const at = timestamp(clock.now())
      const { title, pinned, archived } = changes
      const updated = await store.update(id, {
        ...(title === undefined ? {} : { title }),
        ...(pinned === undefined ? {} : { pinned_at: pinned ? (row.pinned_at ?? at) : null }),
        ...(archived === undefined ? {} : { archived_at: archived ? (row.archived_at ?? at) : null }),
        ...(archived ? { current_key: null } : {}),
      })
      if (!updated) throw new Fault('session_not_found')
      return oneSessionView(party.agent.name, updated)
    },

    /** Throws `not_found` for a message of another conversation. */
    async branch(party: Party, id: string, messageId: string): Promise<ChatSession> {
      const source = await own(party, id)
      const blank = newSession(party, null, false)
      const row = await db.atomically((tx) => fillBranch(tx, source, { messageId, blank }))
      return sessionView(row, party.agent.name, idleUnshared)
    },

    /** Closing a closed conversation changes nothing. */
    async close(party: Party, id: string): Promise<void> {
      const row = await own(party, id)
      if (await store.close(id, timestamp(clock.now()))) dropLiveProcess(row)
    },

    /** Closes the current conversation; null when there is none. */
    async closeCurrent(party: Party): Promise<string | null> {
      const current = await store.current(currentKey(party))
      if (!current) return null
      await store.close(current.id, timestamp(clock.now()))
      dropLiveProcess(current)
      return current.id
    },

    async reset(party: Party, id: string): Promise<ChatSession> {
      const row = await own(party, id)
      const created = await db.atomically(async (tx) => {
        await requireNoTurn(executions, tx, id)
        await chatStore(tx).forgetRuntime(id)
        return chatStore(tx).session(id)
      })
      dropLiveProcess(row)
      return oneSessionView(party.agent.name, created ?? row)
    },

    async remove(party: Party, id: string): Promise<void> {
      const row = await own(party, id)
      await db.atomically(async (tx) => {
        await chatStore(tx).hold(id)
        await requireNoTurn(executions, tx, id)
        await chatStore(tx).remove(id)
      })
      dropLiveProcess(row)
    },

    /** Hook of agent deletion. */
    agentDeleted: (tx: Tx, agentId: string) => chatStore(tx).removeOfAgent(agentId),
  }

  /** `before` is the id of a message of this session, or a time. */
  async function pageBound(
    before: string | undefined,
    sessionId: string,
  ): Promise<{ before?: MessagePosition }> {
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
