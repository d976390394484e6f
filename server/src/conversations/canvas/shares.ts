import { createHash } from 'node:crypto'
import {
  type CanvasShare,
  type ShareBody,
  type SharedCanvas,
  sharedCanvasPath,
} from '@roost/contracts/conversations/canvas-shares'
import type { AgentRecords } from '../../agents/records/index.ts'
import { networkOf, type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import type { SealedColumn, Vault } from '../../foundation/vault/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField, isFault } from '../../kit/fault.ts'
import { newId, newSecretText } from '../../kit/ids.ts'
import type { Db } from '../../ports/database/port.ts'
import type { CanvasAgent } from './canvases.ts'
import { canvasStore, type ShareRow, shareStore } from './store.ts'
import { createViewers, type ViewersDeps } from './viewers.ts'
import { canvasOf } from './views.ts'

export type SharesDeps = ViewersDeps & {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Pick<Vault, 'seal' | 'open'>
  limits: Pick<RateLimits, 'use'>
  agentRecords: Pick<AgentRecords, 'byId'>
  baseUrl: string
}

export type Shares = {
  /** Throws `canvas_not_found`, and `validation_error` for an expiry in the past. */
  create(agent: CanvasAgent, canvasId: string, body: ShareBody): Promise<CanvasShare>
  /** Lists the links of one canvas or all, newest first. */
  list(agent: CanvasAgent, canvasId: string | undefined): Promise<CanvasShare[]>
  /** Repeating it succeeds. Throws `link_not_found`. */
  revoke(agent: CanvasAgent, id: string): Promise<void>
  /** Throws `canvas_not_found`, `sign_in_required`, `access_recheck_failed`, `rate_limited`. */
  view(token: string, by: { ip: string; authorization: string | undefined }): Promise<SharedCanvas>
}

export function createShares(deps: SharesDeps): Shares {
  const { db, clock, vault, limits, agentRecords, baseUrl } = deps
  const store = shareStore(db)
  const viewers = createViewers(deps)

  function shareView(row: ShareRow, agentName: string): CanvasShare {
    const token = vault.open(row.token_sealed, sealedFor(row.id))
    return {
      id: row.id,
      agent_name: agentName,
      canvas_id: row.canvas_id,
      token,
      scope: row.scope,
      url: `${baseUrl}${sharedCanvasPath}${token}`,
      created_at: row.created_at,
      expires_at: row.expires_at,
      revoked_at: row.revoked_at,
      last_viewed_at: row.last_viewed_at,
      view_count: row.view_count,
    }
  }

  /** Repeated loads by one client count, and write, once a minute. */
  async function countView({ id }: ShareRow, ip: string): Promise<void> {
    try {
      await limits.use(rateRules.canvasView, `${id}:${networkOf(ip)}`)
    } catch (error) {
      if (isFault(error, 'rate_limited')) return
      throw error
    }
    await store.recordView(id, timestamp(clock.now()))
  }

  return {
    async create(agent, canvasId, { scope, expires_at }) {
      const at = timestamp(clock.now())
      if (expires_at !== null && expires_at <= at) throw invalidField(['expires_at'], 'must lie ahead')
      const id = newId()
      const token = newSecretText()
      const row: ShareRow = {
        id,
        agent_id: agent.id,
        canvas_id: canvasId,
        token_hash: hashOf(token),
        token_sealed: vault.seal(token, sealedFor(id)),
        scope,
        created_at: at,
        expires_at,
        revoked_at: null,
        last_viewed_at: null,
        view_count: 0,
      }
      await db.atomically(async (tx) => {
        if (!(await canvasStore(tx).hold(agent.id, canvasId))) throw new Fault('canvas_not_found')
        await shareStore(tx).insert(row)
      })
      return shareView(row, agent.name)
    },

    async list(agent, canvasId) {
      return (await store.list(agent.id, canvasId)).map((row) => shareView(row, agent.name))
    },

    async revoke(agent, id) {
      const isRevoked = await store.revoke(agent.id, id, timestamp(clock.now()))
      if (!isRevoked) throw new Fault('link_not_found')
    },

    async view(token, { ip, authorization }) {
      await limits.use(rateRules.publicLookup, ip)
      const now = clock.now()
      const share = await store.findOpen(hashOf(token), timestamp(now))
      if (!share) throw new Fault('canvas_not_found')
      const agent = await agentRecords.byId(share.agent_id)
      if (!agent) throw new Fault('canvas_not_found')
      if (share.scope === 'authorized') await viewers.admit(agent, authorization)
      const row = await canvasStore(db).find(agent.id, share.canvas_id)
      if (!row) throw new Fault('canvas_not_found')
      await countView(share, ip)
      const { updated_by_execution_id: _, ...canvas } = canvasOf(row, agent.name, now)
      return canvas
    },
  }
}

const sealedFor = (id: string) => `canvas-share:${id}`

/** Tokens are 256 random bits, so a plain digest is safe. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

export const sealedColumns: SealedColumn[] = [
  { table: 'canvas_shares', column: 'token_sealed', key: ['id'], context: ({ id = '' }) => sealedFor(id) },
]
