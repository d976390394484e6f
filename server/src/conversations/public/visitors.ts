import type { PublicIdentity } from '@roost/contracts/conversations/public-chat'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId, newSecretText } from '../../kit/ids.ts'
import type { Db, Executor } from '../../ports/database/port.ts'
import { hashOf, secretHash } from './rules.ts'
import { type LinkRow, publicStore, type VisitorRow } from './store.ts'

/** How long a verified address stays valid. */
const sessionTokenSeconds = 24 * 3600
/** Kept small, because a delete blocks all other writers on SQLite. */
const deleteBatch = 500

export type VisitorsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  /** Days until inactive visitors are deleted; 0 means never. */
  retentionDays(): number
}

/** A visitor on a link. */
export type Visitor = {
  row: VisitorRow
  /** The sent session id, which replies on an open link repeat. */
  sessionId: string
  /** Hash of the session token on a link with verification; else null. */
  tokenHash: string | null
}

export type Visitors = {
  /**
   * Identifies the visitor. Null for a new visitor on an open link; unknown ids count as new. Throws `session_expired`
   * when verification is required and missing.
   */
  of(link: LinkRow, identity: PublicIdentity): Promise<Visitor | null>
  /** Returns the hash of a valid session token of this link. Throws `session_expired`. */
  tokenHashOf(link: LinkRow, token: string | null | undefined): Promise<string>
  /** Creates a visitor on an open link, without storing it. */
  newVisitor(link: LinkRow): Visitor
  /** Creates a session token for a verified address. */
  openSession(on: Executor, link: LinkRow, email: string): Promise<{ token: string; expires_at: string }>
  /** Replaces the visitor's `session_id`; null when it is no longer current. */
  renew(on: Executor, visitor: Visitor): Promise<string | null>
  /** Deletes expired session tokens and inactive visitors. */
  sweep(signal: AbortSignal): Promise<void>
}

/** Identifies visitors: by a verified address, or by the session id in their browser. */
export function createVisitors({ db, clock, retentionDays }: VisitorsDeps): Visitors {
  const store = publicStore(db)
  const now = () => timestamp(clock.now())

  async function byToken(link: LinkRow, token: string | null | undefined): Promise<Visitor> {
    const tokenHash = secretHash(token)
    const row = tokenHash === null ? null : await store.visitorByToken(link.id, tokenHash, now())
    if (!row) throw new Fault('session_expired')
    return { row, sessionId: row.id, tokenHash }
  }

  function newRow(link: LinkRow, identity: { sessionHash: string } | { email: string }): VisitorRow {
    return {
      id: newId(),
      link_id: link.id,
      session_hash: 'sessionHash' in identity ? identity.sessionHash : null,
      email: 'email' in identity ? identity.email : null,
      created_at: now(),
      last_message_at: null,
    }
  }

  return {
    async of(link, { session_token, session_id }) {
      if (link.require_email === 1) return byToken(link, session_token)
      const hash = secretHash(session_id)
      const row = hash === null ? null : await store.visitorBySession(link.id, hash)
      return row && { row, sessionId: session_id ?? '', tokenHash: null }
    },

    async tokenHashOf(link, token) {
      const { tokenHash } = await byToken(link, token)
      if (tokenHash === null) throw new Fault('session_expired')
      return tokenHash
    },

    newVisitor(link) {
      const sessionId = newSecretText()
      const row = newRow(link, { sessionHash: hashOf(sessionId) })
      return { row, sessionId, tokenHash: null }
    },

    async openSession(on, link, email) {
      const txStore = publicStore(on)
      const visitor = await txStore.ensureAddress({ ...newRow(link, { email }), email })
      const token = newSecretText()
      const expires_at = timestamp(secondsLater(clock.now(), sessionTokenSeconds))
      await txStore.insertToken({ token_hash: hashOf(token), visitor_id: visitor.id, expires_at })
      return { token, expires_at }
    },

    async renew(on, { row, sessionId }) {
      const newSecret = newSecretText()
      const isCurrent = await publicStore(on).changeSession(row.id, hashOf(sessionId), hashOf(newSecret))
      return isCurrent ? newSecret : null
    },

    async sweep(signal) {
      await store.removeExpiredTokens(now())
      const days = retentionDays()
      if (days === 0) return
      const before = timestamp(secondsLater(clock.now(), -days * 24 * 3600))
      for (let deleted = deleteBatch; deleted === deleteBatch && !signal.aborted; ) {
        deleted = await db.atomically((tx) =>
          publicStore(tx).removeInactiveVisitors(before, now(), deleteBatch),
        )
      }
    },
  }
}

/** The holder of a visitor's conversation. */
export function holderOfVisitor({ id, link_id }: Pick<VisitorRow, 'id' | 'link_id'>): string {
  return `${holdersOf(link_id)}${id}`
}

/** Prefix of the holders of all conversations of a link. */
export function holdersOf(linkId: string): string {
  return `public:${linkId}:`
}
