import type { PublicIdentity } from '@roost/contracts/conversations/public-chat'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId, newSecretText } from '../../kit/ids.ts'
import type { Db, Executor } from '../../ports/database/port.ts'
import { hashOf, secretHash } from './rules.ts'
import { type LinkRow, publicStore, type VisitorRow } from './store.ts'

/** How long a confirmed address is good for. */
const sessionTokenSeconds = 24 * 3600
/** A delete holds up all other writers on SQLite, so it is short. */
const forgottenTogether = 500

export type VisitorsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  /** Days for which people who do not come back are known; 0: for ever. */
  keptDays(): number
}

/** Somebody on a link. */
export type Visitor = {
  row: VisitorRow
  /** As they showed it; what a reply of an open link repeats. */
  sessionId: string
  /** Of the session token on a link that asks for an address; null on an open one. */
  tokenHash: string | null
}

export type Visitors = {
  /**
   * Who it is. Null: somebody new on an open link, whatever they showed: an id that was not given out here is
   * nobody's. Throws `session_expired` where an address must be confirmed and is not.
   */
  of(link: LinkRow, shown: PublicIdentity): Promise<Visitor | null>
  /** Hash of a session token that is good on this link. Throws `session_expired`. */
  tokenHashOf(link: LinkRow, token: string | null | undefined): Promise<string>
  /** Somebody new on an open link; kept as `row`. */
  newVisitor(link: LinkRow): Visitor
  /** A session token for an address that was confirmed. */
  openSession(on: Executor, link: LinkRow, email: string): Promise<{ token: string; expires_at: string }>
  /** A new `session_id` in the place of the one shown; null when that is none any more. */
  renew(on: Executor, visitor: Visitor): Promise<string | null>
  /** Removes session tokens that are over, and forgets people of whom nothing is left. */
  sweep(signal: AbortSignal): Promise<void>
}

/** Who speaks on a link: a confirmed address, or a browser that keeps what it was given. */
export function createVisitors({ db, clock, keptDays }: VisitorsDeps): Visitors {
  const store = publicStore(db)
  const now = () => timestamp(clock.now())

  async function byToken(link: LinkRow, token: string | null | undefined): Promise<Visitor> {
    const tokenHash = secretHash(token)
    const row = tokenHash === null ? null : await store.visitorByToken(link.id, tokenHash, now())
    if (!row) throw new Fault('session_expired')
    return { row, sessionId: row.id, tokenHash }
  }

  function blank(link: LinkRow, of: { sessionHash: string } | { email: string }): VisitorRow {
    return {
      id: newId(),
      link_id: link.id,
      session_hash: 'sessionHash' in of ? of.sessionHash : null,
      email: 'email' in of ? of.email : null,
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
      const row = blank(link, { sessionHash: hashOf(sessionId) })
      return { row, sessionId, tokenHash: null }
    },

    async openSession(on, link, email) {
      const inTx = publicStore(on)
      const visitor = await inTx.ensureAddress({ ...blank(link, { email }), email })
      const token = newSecretText()
      const expires_at = timestamp(secondsLater(clock.now(), sessionTokenSeconds))
      await inTx.insertToken({ token_hash: hashOf(token), visitor_id: visitor.id, expires_at })
      return { token, expires_at }
    },

    async renew(on, { row, sessionId }) {
      const fresh = newSecretText()
      const isMine = await publicStore(on).changeSession(row.id, hashOf(sessionId), hashOf(fresh))
      return isMine ? fresh : null
    },

    async sweep(signal) {
      await store.removeOverTokens(now())
      const days = keptDays()
      if (days === 0) return
      const before = timestamp(secondsLater(clock.now(), -days * 24 * 3600))
      for (let gone = forgottenTogether; gone === forgottenTogether && !signal.aborted; ) {
        gone = await db.atomically((tx) => publicStore(tx).forgetVisitors(before, now(), forgottenTogether))
      }
    },
  }
}

/** Whose conversation it is, as those are kept. */
export function holderOfVisitor({ id, link_id }: Pick<VisitorRow, 'id' | 'link_id'>): string {
  return `${holdersOf(link_id)}${id}`
}

/** What the holders of all conversations of a link begin with. */
export function holdersOf(linkId: string): string {
  return `public:${linkId}:`
}
