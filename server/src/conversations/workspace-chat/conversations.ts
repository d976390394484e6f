import type { Conversation } from '@roost/contracts/conversations/workspace-conversations'
import type { Agent } from '../../agents/records/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db, Executor, Tx } from '../../ports/database/port.ts'
import type { Executions } from '../../runs/executions/index.ts'
import { blankSession, chatStore, refuseWhileTurn, type SessionRow } from '../chat/index.ts'
import type { Principal } from './principal.ts'
import type { Roster } from './roster.ts'
import { isMain, mainKey, outcomeOf, shownConversation, shownMessage, snippetOf } from './shown.ts'
import { workspaceStore } from './store.ts'

export type ConversationsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  executions: Pick<Executions, 'inFlight'>
  link: Pick<AgentLink, 'call' | 'isConnected'>
  roster: Pick<Roster, 'agentsOf' | 'has'>
}

/** Whose conversation; what is told of answers is told to `caller`. */
export type Holder = Pick<Principal, 'holder' | 'caller'>

export type Conversations = ReturnType<typeof createConversations>

/** Conversations of people with agents: Main, which is always there, and others beside it. */
export function createConversations(deps: ConversationsDeps) {
  const { db, clock, executions, link, roster } = deps
  const store = workspaceStore(db)

  /** Of the person, with this agent. Throws `session_not_found`. */
  async function own(who: Holder, agentId: string, id: string, on: Executor = db): Promise<SessionRow> {
    const row = await chatStore(on).session(id)
    if (row?.kind !== 'workspace' || row.holder_id !== who.holder || row.agent_id !== agentId) {
      throw new Fault('session_not_found')
    }
    return row
  }

  async function begin(tx: Tx, who: Holder, agentId: string, of: { title: string | null; main: boolean }) {
    const row = newConversation(who, agentId, { ...of, at: timestamp(clock.now()) })
    return (await chatStore(tx).insertSession(row)) ? row : null
  }

  async function ensureMain(tx: Tx, who: Holder, agentId: string): Promise<SessionRow> {
    const inTx = chatStore(tx)
    const key = mainKey(agentId, who.holder)
    const present = await inTx.current(key)
    const row =
      present ?? (await begin(tx, who, agentId, { title: null, main: true })) ?? (await inTx.current(key))
    if (!row) throw new Error('Main came and went.')
    const userId = who.caller.user.id
    if (row.user_id !== userId && userId !== who.holder) await inTx.setUser(row.id, userId)
    return row
  }

  async function shownAll(rows: readonly SessionRow[], names: Map<string, string>): Promise<Conversation[]> {
    const ids = rows.map(({ id }) => id)
    const [states, unread] = await Promise.all([store.states(ids), store.unread(ids)])
    return rows.map((row) =>
      shownConversation(
        row,
        names.get(row.agent_id) ?? '',
        states.get(row.id) ?? null,
        unread.get(row.id) ?? 0,
      ),
    )
  }

  async function shownOne(row: SessionRow, agentName: string): Promise<Conversation> {
    const [shown] = await shownAll([row], new Map([[row.agent_id, agentName]]))
    if (!shown) throw new Error('One conversation in, none out.')
    return shown
  }

  /** An own conversation with an agent that is still on the roster. Throws `session_not_found`. */
  async function reachable(who: Principal, id: string): Promise<SessionRow> {
    const row = await chatStore(db).session(id)
    const isOwn = row?.kind === 'workspace' && row.holder_id === who.holder
    if (!row || !isOwn || !(await roster.has(who, row.agent_id))) throw new Fault('session_not_found')
    return row
  }

  async function stateOf(id: string) {
    const [states, unread] = await Promise.all([store.states([id]), store.unread([id])])
    return { id, starred: states.get(id)?.starred === 1, unread: unread.get(id) ?? 0 }
  }

  return {
    own,
    ensureMain,

    /** Beside Main, in the caller's transaction. */
    async beginIn(tx: Tx, who: Holder, agentId: string): Promise<SessionRow> {
      const row = await begin(tx, who, agentId, { title: null, main: false })
      if (!row) throw new Error('A conversation without a key was taken.')
      return row
    },

    async list(who: Principal, agent: Agent): Promise<Conversation[]> {
      await db.atomically((tx) => ensureMain(tx, who, agent.id))
      const rows = await store.conversations(who.holder, [agent.id])
      const shown = await shownAll(rows, new Map([[agent.id, agent.name]]))
      return shown.toSorted((a, b) => Number(b.is_main) - Number(a.is_main))
    },

    async listAll(who: Principal): Promise<Conversation[]> {
      const names = namesOf(await roster.agentsOf(who))
      return shownAll(await store.conversations(who.holder, [...names.keys()]), names)
    },

    /** Messages of agents that were not read yet, by agent. */
    async unreadByAgent(who: Principal, agents: readonly Agent[]): Promise<Map<string, number>> {
      const rows = await store.conversations(
        who.holder,
        agents.map(({ id }) => id),
      )
      const unread = await store.unread(rows.map(({ id }) => id))
      const totals = new Map<string, number>()
      for (const { id, agent_id } of rows) {
        totals.set(agent_id, (totals.get(agent_id) ?? 0) + (unread.get(id) ?? 0))
      }
      return totals
    },

    async search(who: Principal, words: string, limit: number) {
      const names = namesOf(await roster.agentsOf(who))
      const found = await store.search(who.holder, [...names.keys()], words, limit)
      return found.map(({ agent_id, content, ...rest }) => ({
        agent_name: names.get(agent_id) ?? '',
        ...rest,
        snippet: snippetOf(content, words),
      }))
    },

    async create(who: Principal, agent: Agent, title: string | null): Promise<Conversation> {
      const row = await db.atomically((tx) => begin(tx, who, agent.id, { title, main: false }))
      if (!row) throw new Error('A conversation without a key was taken.')
      return shownConversation(row, agent.name, null, 0)
    },

    async rename(who: Principal, agent: Agent, id: string, title: string): Promise<Conversation> {
      const row = await own(who, agent.id, id)
      if (isMain(row)) throw new Fault('conflict', 'Main keeps its name.')
      await chatStore(db).rename(id, title)
      return shownOne({ ...row, title }, agent.name)
    },

    /** An empty Main stays as it is. Throws `turn_in_progress`. */
    async resetMain(who: Principal, agent: Agent) {
      const done = await db.atomically(async (tx) => {
        const main = await ensureMain(tx, who, agent.id)
        const inTx = chatStore(tx)
        await inTx.hold(main.id)
        await refuseWhileTurn(executions, tx, main.id)
        const held = await inTx.session(main.id)
        if (!held || held.message_count === 0) return { main_session_id: main.id, archived_session_id: null }
        await inTx.close(main.id, timestamp(clock.now()))
        const fresh = await ensureMain(tx, who, agent.id)
        return { main_session_id: fresh.id, archived_session_id: main.id }
      })
      const archived = done.archived_session_id
      if (archived !== null && link.isConnected(agent.id)) {
        // An agent that is out of reach ends idle processes by itself.
        link.call(agent.id, 'session.drop', { session_id: archived }).catch(() => {})
      }
      return done
    },

    async star(who: Principal, id: string, starred: boolean) {
      const row = await reachable(who, id)
      await store.star(row.id, starred)
      return stateOf(row.id)
    },

    /** What was said aloud needs no reading. */
    async heard(tx: Tx, id: string): Promise<void> {
      const row = await chatStore(tx).session(id)
      if (row?.kind === 'workspace') await workspaceStore(tx).read(row.id, row.message_count)
    },

    async markRead(who: Principal, id: string) {
      const row = await reachable(who, id)
      await store.read(row.id, row.message_count)
      return stateOf(row.id)
    },

    async history(
      who: Principal,
      agent: Agent,
      { session_id, limit }: { session_id?: string; limit: number },
    ) {
      const row = session_id
        ? await own(who, agent.id, session_id)
        : await db.atomically((tx) => ensureMain(tx, who, agent.id))
      const messages = await chatStore(db).messages(row.id, limit)
      const running = (await executions.inFlight(db, [row.id])).get(row.id) ?? null
      return {
        agent_name: agent.name,
        session_id: row.id,
        messages: messages.map(shownMessage),
        in_flight_execution_id: running,
        last_turn_outcome: running === null ? outcomeOf(messages.at(-1)) : null,
        truncated: (messages[0]?.position ?? 1) > 1,
      }
    },

    /** Throws `not_found` for what is no answer in an own conversation with this agent. */
    async rate(
      who: Principal,
      agent: Agent,
      {
        target_id,
        rating,
        comment,
      }: { target_id: string; rating: 'up' | 'down' | 'none'; comment: string | null },
    ) {
      const message = await chatStore(db).message(target_id)
      const session = message && (await chatStore(db).session(message.session_id))
      const isOwn = session?.holder_id === who.holder && session.agent_id === agent.id
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
