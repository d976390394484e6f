import type { Conversation } from '@roost/contracts/conversations/workspace-conversations'
import type { Agent } from '../../agents/records/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db, Executor, Tx } from '../../ports/database/port.ts'
import type { Executions } from '../../runs/executions/index.ts'
import { blankSession, chatStore, pictureAnswer, requireNoTurn, type SessionRow } from '../chat/index.ts'
import { accountIdOf, type Principal } from './principal.ts'
import type { Roster } from './roster.ts'
import { workspaceStore } from './store.ts'
import { conversationView, isMain, mainKey, messageView, outcomeOf, snippetOf } from './views.ts'

export type ConversationsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  executions: Pick<Executions, 'inFlight'>
  link: Pick<AgentLink, 'call' | 'isConnected'>
  roster: Pick<Roster, 'agentsOf' | 'has'>
}

/** The holder of a conversation; `caller` is notified of replies. */
export type Holder = Pick<Principal, 'holder' | 'caller'>

export type Conversations = ReturnType<typeof createConversations>

/** Conversations of people with agents: Main, which always exists, and others. */
export function createConversations(deps: ConversationsDeps) {
  const { db, clock, executions, link, roster } = deps
  const store = workspaceStore(db)

  /** A conversation of the person with this agent. Throws `session_not_found`. */
  async function own(principal: Holder, agentId: string, id: string, on: Executor = db): Promise<SessionRow> {
    const row = await chatStore(on).session(id)
    if (row?.kind !== 'workspace' || row.holder_id !== principal.holder || row.agent_id !== agentId) {
      throw new Fault('session_not_found')
    }
    return row
  }

  async function insertConversation(
    tx: Tx,
    principal: Holder,
    agentId: string,
    options: { title: string | null; main: boolean },
  ) {
    const row = newConversation(principal, agentId, { ...options, at: timestamp(clock.now()) })
    return (await chatStore(tx).insertSession(row)) ? row : null
  }

  async function ensureMain(tx: Tx, principal: Holder, agentId: string): Promise<SessionRow> {
    const txStore = chatStore(tx)
    const key = mainKey(agentId, principal.holder)
    const existing = await txStore.current(key)
    const row =
      existing ??
      (await insertConversation(tx, principal, agentId, { title: null, main: true })) ??
      (await txStore.current(key))
    if (!row) throw new Error('Main came and went.')
    const userId = accountIdOf(principal)
    if (userId !== null && row.user_id !== userId) await txStore.setUser(row.id, userId)
    return row
  }

  async function conversationViews(
    rows: readonly SessionRow[],
    names: Map<string, string>,
  ): Promise<Conversation[]> {
    const ids = rows.map(({ id }) => id)
    const [states, unread] = await Promise.all([store.states(ids), store.unread(ids)])
    return rows.map((row) =>
      conversationView(
        row,
        names.get(row.agent_id) ?? '',
        states.get(row.id) ?? null,
        unread.get(row.id) ?? 0,
      ),
    )
  }

  async function oneConversationView(row: SessionRow, agentName: string): Promise<Conversation> {
    const [views] = await conversationViews([row], new Map([[row.agent_id, agentName]]))
    if (!views) throw new Error('One conversation in, none out.')
    return views
  }

  /** An own conversation with an agent on the roster. Throws `session_not_found`. */
  async function findReachable(principal: Principal, id: string): Promise<SessionRow> {
    const row = await chatStore(db).session(id)
    const isOwn = row?.kind === 'workspace' && row.holder_id === principal.holder
    if (!row || !isOwn || !(await roster.has(principal, row.agent_id))) throw new Fault('session_not_found')
    return row
  }

  async function stateOf(id: string) {
    const [states, unread] = await Promise.all([store.states([id]), store.unread([id])])
    return { id, starred: states.get(id)?.starred === 1, unread: unread.get(id) ?? 0 }
  }

  return {
    own,
    ensureMain,

    /** Creates another conversation than Main, in the caller's transaction. */
    async createOther(tx: Tx, principal: Holder, agentId: string): Promise<SessionRow> {
      const row = await insertConversation(tx, principal, agentId, { title: null, main: false })
      if (!row) throw new Error('Inserting a conversation without a key conflicted.')
      return row
    },

    async list(principal: Principal, agent: Agent): Promise<Conversation[]> {
      await db.atomically((tx) => ensureMain(tx, principal, agent.id))
      const rows = await store.conversations(principal.holder, [agent.id])
      const views = await conversationViews(rows, new Map([[agent.id, agent.name]]))
      return views.toSorted((a, b) => Number(b.is_main) - Number(a.is_main))
    },

    async listAll(principal: Principal): Promise<Conversation[]> {
      const names = namesOf(await roster.agentsOf(principal))
      return conversationViews(await store.conversations(principal.holder, [...names.keys()]), names)
    },

    /** Unread messages by agent. */
    async unreadByAgent(principal: Principal, agents: readonly Agent[]): Promise<Map<string, number>> {
      const rows = await store.conversations(
        principal.holder,
        agents.map(({ id }) => id),
      )
      const unread = await store.unread(rows.map(({ id }) => id))
      const totals = new Map<string, number>()
      for (const { id, agent_id } of rows) {
        totals.set(agent_id, (totals.get(agent_id) ?? 0) + (unread.get(id) ?? 0))
      }
      return totals
    },

    async search(principal: Principal, phrase: string, limit: number) {
      const names = namesOf(await roster.agentsOf(principal))
      const results = await store.search(principal.holder, [...names.keys()], phrase, limit)
      return results.map(({ agent_id, content, ...rest }) => ({
        agent_name: names.get(agent_id) ?? '',
        ...rest,
        snippet: snippetOf(content, phrase),
      }))
    },

    async create(principal: Principal, agent: Agent, title: string | null): Promise<Conversation> {
      const row = await db.atomically((tx) =>
        insertConversation(tx, principal, agent.id, { title, main: false }),
      )
      if (!row) throw new Error('Inserting a conversation without a key conflicted.')
      return conversationView(row, agent.name, null, 0)
    },

    async rename(principal: Principal, agent: Agent, id: string, title: string): Promise<Conversation> {
      const row = await own(principal, agent.id, id)
      if (isMain(row)) throw new Fault('conflict', 'Main keeps its name.')
      await chatStore(db).rename(id, title)
      return oneConversationView({ ...row, title }, agent.name)
    },

    /** An empty Main stays. Throws `turn_in_progress`. */
    async resetMain(principal: Principal, agent: Agent) {
      const done = await db.atomically(async (tx) => {
        const main = await ensureMain(tx, principal, agent.id)
        const txStore = chatStore(tx)
        await txStore.hold(main.id)
        await requireNoTurn(executions, tx, main.id)
        const current = await txStore.session(main.id)
        if (!current || current.message_count === 0)
          return { main_session_id: main.id, archived_session_id: null }
        await txStore.close(main.id, timestamp(clock.now()))
        const newMain = await ensureMain(tx, principal, agent.id)
        return { main_session_id: newMain.id, archived_session_id: main.id }
      })
      const archived = done.archived_session_id
      if (archived !== null && link.isConnected(agent.id)) {
        // An unreachable agent ends idle processes by itself.
        link.call(agent.id, 'session.drop', { session_id: archived }).catch(() => {})
      }
      return done
    },

    async star(principal: Principal, id: string, starred: boolean) {
      const row = await findReachable(principal, id)
      await store.star(row.id, starred)
      return stateOf(row.id)
    },

    /** Spoken lines count as read. */
    async markHeard(tx: Tx, id: string): Promise<void> {
      const row = await chatStore(tx).session(id)
      if (row?.kind === 'workspace') await workspaceStore(tx).read(row.id, row.message_count)
    },

    async markRead(principal: Principal, id: string) {
      const row = await findReachable(principal, id)
      await store.read(row.id, row.message_count)
      return stateOf(row.id)
    },

    async history(
      principal: Principal,
      agent: Agent,
      { session_id, limit }: { session_id?: string; limit: number },
    ) {
      const row = session_id
        ? await own(principal, agent.id, session_id)
        : await db.atomically((tx) => ensureMain(tx, principal, agent.id))
      const messages = await chatStore(db).messages(row.id, limit)
      const running = (await executions.inFlight(db, [row.id])).get(row.id) ?? null
      return {
        agent_name: agent.name,
        session_id: row.id,
        messages: messages.map(messageView),
        in_flight_execution_id: running,
        last_turn_outcome: running === null ? outcomeOf(messages.at(-1)) : null,
        truncated: (messages[0]?.position ?? 1) > 1,
      }
    },

    /** Throws `session_not_found`, `file_not_found`. */
    async picture(principal: Principal, agent: Agent, { id, pictureId }: { id: string; pictureId: string }) {
      const row = await own(principal, agent.id, id)
      return pictureAnswer(db, row.id, pictureId)
    },

    /** Throws `not_found` for anything but an answer in an own conversation with this agent. */
    async rate(
      principal: Principal,
      agent: Agent,
      {
        target_id,
        rating,
        comment,
      }: { target_id: string; rating: 'up' | 'down' | 'none'; comment: string | null },
    ) {
      const message = await chatStore(db).message(target_id)
      const session = message && (await chatStore(db).session(message.session_id))
      const isOwn = session?.holder_id === principal.holder && session.agent_id === agent.id
      if (message?.role !== 'assistant' || !isOwn) throw new Fault('not_found', 'There is no such message.')
      await db.atomically(async (tx) => {
        await chatStore(tx).rate(target_id, rating === 'none' ? null : rating)
        await workspaceStore(tx).comment(
          target_id,
          rating === 'none' ? null : comment,
          timestamp(clock.now()),
        )
      })
      return { target_id, rating }
    },
  }
}

function namesOf(agents: readonly Agent[]): Map<string, string> {
  return new Map(agents.map(({ id, name }) => [id, name]))
}

function newConversation(
  { holder, caller }: Holder,
  agentId: string,
  { title, main, at }: { title: string | null; main: boolean; at: string },
): SessionRow {
  return {
    id: newId(),
    agent_id: agentId,
    holder_id: holder,
    user_id: caller.user.id,
    user_email: caller.user.email,
    title,
    kind: 'workspace',
    current_key: main ? mainKey(agentId, holder) : null,
    started_at: at,
    ...blankSession,
  }
}
