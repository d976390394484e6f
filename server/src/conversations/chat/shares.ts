import type { ChatShare, SharedConversation, SharedMessage } from '@roost/contracts/conversations/chat-shares'
import { maxSharesPerSession, sharedConversationPath } from '@roost/contracts/conversations/chat-shares'
import type { AgentPrincipals } from '../../agents/access/index.ts'
import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import type { StreamAnswer } from '../../http/route.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import type { Account, Users } from '../../identity/users/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db } from '../../ports/database/port.ts'
import { pictureAnswer } from './pictures.ts'
import { messageView } from './rules.ts'
import type { Party, Sessions } from './sessions.ts'
import { type ShareRow, shareStore } from './share-store.ts'
import { chatStore, type MessageRow, type SessionRow } from './store.ts'

export type ChatSharesDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  limits: Pick<RateLimits, 'use'>
  users: Pick<Users, 'find' | 'findAll' | 'holderOf'>
  agentRecords: Pick<AgentRecords, 'byId'>
  principals: Pick<AgentPrincipals, 'resolve'>
  sessions: Pick<Sessions, 'own' | 'findReadable' | 'page'>
  baseUrl: string
}

export type ChatShares = ReturnType<typeof createChatShares>

type Opened = { share: ShareRow; session: SessionRow; agent: Agent; sharer: Account }

/** Read-only shares of single conversations with single accounts. */
export function createChatShares(deps: ChatSharesDeps) {
  const { db, clock, limits, users, agentRecords, principals, sessions, baseUrl } = deps
  const store = shareStore(db)

  const shareView = (row: ShareRow, agentName: string, recipient: Account): ChatShare => ({
    id: row.id,
    session_id: row.session_id,
    agent_name: agentName,
    username: recipient.username,
    name: recipient.name,
    url: `${baseUrl}${sharedConversationPath}${row.id}`,
    created_at: row.created_at,
  })

  /** Null when the conversation is no longer shown: its person has lost the agent, or is suspended. */
  async function open(share: ShareRow): Promise<Opened | null> {
    const session = await chatStore(db).session(share.session_id)
    const agent = session && (await agentRecords.byId(session.agent_id))
    if (!session || !agent) return null
    const sharer = await users.find(session.user_id)
    if (!sharer || 'ended' in (await principals.resolve(agent, session.holder_id))) return null
    return { share, session, agent, sharer }
  }

  /** Throws `session_not_found`, whatever the reason. */
  async function find(caller: SignedIn, shareId: string): Promise<Opened> {
    const share = await store.find(shareId, caller.user.id)
    const opened = share && (await open(share))
    if (!opened) throw new Fault('session_not_found')
    return opened
  }

  return {
    /** Throws `session_not_found`, `validation_error`, `self_share`, `already_shared`, `conflict`, `rate_limited`. */
    async create(party: Party, sessionId: string, username: string): Promise<ChatShare> {
      const { caller, agent } = party
      const session = await sessions.own(party, sessionId)
      // Limits guesses of account names too.
      await limits.use(rateRules.conversationShare, caller.user.id)
      const recipient = await users.holderOf(db, username.toLowerCase())
      if (!recipient || recipient.suspended_at !== null) {
        throw invalidField(['username'], 'is not the name or address of an account')
      }
      if (recipient.id === caller.user.id) throw new Fault('self_share')
      const row: ShareRow = {
        id: newId(),
        session_id: session.id,
        user_id: recipient.id,
        created_at: timestamp(clock.now()),
      }
      await db.atomically(async (tx) => {
        if (!(await chatStore(tx).hold(session.id))) throw new Fault('session_not_found')
        const present = (await shareStore(tx).countsOf([session.id])).get(session.id) ?? 0
        if (present >= maxSharesPerSession) {
          throw new Fault('conflict', `A conversation has at most ${maxSharesPerSession} shares.`)
        }
        if (!(await shareStore(tx).insert(row))) throw new Fault('already_shared')
      })
      return shareView(row, agent.name, recipient)
    },

    /** Admins see the shares of all conversations. */
    async list(party: Party, sessionId: string): Promise<ChatShare[]> {
      const session = await sessions.findReadable(party, sessionId)
      const rows = await store.list(session.id)
      const recipients = await users.findAll(rows.map(({ user_id }) => user_id))
      const byId = new Map(recipients.map((account) => [account.id, account]))
      return rows.flatMap((row) => {
        const recipient = byId.get(row.user_id)
        return recipient ? [shareView(row, party.agent.name, recipient)] : []
      })
    },

    /** Admins may end any share. Throws `session_not_found`, `link_not_found`. */
    async revoke(party: Party, sessionId: string, shareId: string): Promise<ShareRow> {
      const session = await sessions.findReadable(party, sessionId)
      const row = await store.remove(session.id, shareId)
      if (!row) throw new Fault('link_not_found')
      return row
    },

    async listOf(caller: SignedIn, limit: number): Promise<SharedConversation[]> {
      const shown: SharedConversation[] = []
      for (const share of await store.listOf(caller.user.id, limit)) {
        const opened = await open(share)
        if (opened) shown.push(conversationView(opened))
      }
      return shown
    },

    async read(
      caller: SignedIn,
      shareId: string,
      query: { limit: number; before?: string },
    ): Promise<{ conversation: SharedConversation; messages: SharedMessage[] }> {
      const opened = await find(caller, shareId)
      const rows = await sessions.page(opened.session.id, query)
      return {
        conversation: conversationView(opened),
        messages: rows.map((row) => sharedMessage(row, opened.agent.name)),
      }
    },

    async picture(caller: SignedIn, shareId: string, pictureId: string): Promise<StreamAnswer> {
      const { session } = await find(caller, shareId)
      return pictureAnswer(db, session.id, pictureId)
    },
  }
}

function conversationView({ share, session, agent, sharer }: Opened): SharedConversation {
  return {
    share_id: share.id,
    agent_name: agent.name,
    agent_label: agent.label,
    title: session.title,
    shared_by: sharer.name ?? sharer.username,
    shared_at: share.created_at,
    last_message_at: session.last_message_at,
  }
}

function sharedMessage(row: MessageRow, agentName: string): SharedMessage {
  const {
    id,
    role,
    content,
    timestamp: at,
    source,
    tool_calls,
    files,
    error_code,
  } = messageView(row, agentName)
  return { id, role, content, timestamp: at, source, tool_calls, files, error_code }
}
