import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { isOpen, secretHash } from './rules.ts'
import { type LinkRow, publicStore } from './store.ts'

export type ResolveLinkDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentRecords: Pick<AgentRecords, 'byId'>
}

/** A link that is open to visitors, and its agent. */
export type OpenLink = { link: LinkRow; agent: Agent }

export type ResolveLink = {
  /** Throws the same `link_not_found` for an unknown token and for a closed link. */
  resolve(token: string): Promise<OpenLink>
}

export function createResolveLink({ db, clock, agentRecords }: ResolveLinkDeps): ResolveLink {
  return {
    async resolve(token) {
      const hash = secretHash(token)
      const link = hash === null ? null : await publicStore(db).linkByToken(hash)
      const agent = link && isOpen(link, timestamp(clock.now())) && (await agentRecords.byId(link.agent_id))
      if (!link || !agent) throw new Fault('link_not_found')
      return { link, agent }
    },
  }
}
