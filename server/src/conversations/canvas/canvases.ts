import {
  type Canvas,
  type CanvasBody,
  type CanvasPatch,
  type CanvasSummary,
  mostCanvases,
} from '@roost/contracts/conversations/canvas'
import { agentStore } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import { inWorker, TooComplex } from '../../kit/in-worker.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { refuseForeignRun } from '../../runs/executions/index.ts'
import { htmlOf, normalizeBlocks, patchBlocks, type Sanitise } from './rules.ts'
import { type CanvasRow, canvasStore } from './store.ts'
import { blocksOf, canvasOf, summaryOf } from './views.ts'

export type CanvasesDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  limits: Pick<RateLimits, 'use'>
}

/** The agent that owns the canvases. */
export type CanvasAgent = { id: string; name: string }

export type Canvases = {
  /** Pinned canvases first, then the latest changes. `rosterOnly`: only those visible in the Workspace. */
  list(agent: CanvasAgent, options?: { rosterOnly: boolean }): Promise<CanvasSummary[]>
  /** Throws `canvas_not_found`. */
  read(agent: CanvasAgent, canvasId: string, options?: { rosterOnly: boolean }): Promise<Canvas>
  /** Throws `body_too_large`, `conflict` at the canvas limit, `execution_not_found`, `rate_limited`. */
  put(agent: CanvasAgent, canvasId: string, body: CanvasBody): Promise<Canvas>
  /**
   * Applies all changes or none. Throws the faults of `put`, `canvas_not_found`, and `validation_error` for a block.
   */
  patch(agent: CanvasAgent, canvasId: string, body: CanvasPatch): Promise<Canvas>
  /** Throws `canvas_not_found`. */
  pin(agent: CanvasAgent, canvasId: string, pinned: boolean): Promise<CanvasSummary>
  /** Returns the ids that existed. Throws `rate_limited`. */
  remove(agent: CanvasAgent, canvasIds: readonly string[]): Promise<string[]>
}

export function createCanvases({ db, clock, events, limits }: CanvasesDeps): Canvases {
  const store = canvasStore(db)

  async function announce(
    tx: Tx,
    agent: CanvasAgent,
    type: 'canvas.updated' | 'canvas.deleted',
    { canvas_id, title }: Pick<CanvasRow, 'canvas_id' | 'title'>,
  ) {
    const subject = { agent_names: [agent.name], agent_ids: [agent.id] }
    await events.append(tx, { type, ...subject, fields: { canvas_id, title } }, clock.now())
  }

  /** Serializes the writers of one agent, so that none overwrites another's change. */
  const serialized = <T>(agent: CanvasAgent, work: (tx: Tx) => Promise<T>) =>
    db.atomically(async (tx) => {
      if (!(await agentStore(tx).lock(agent.id))) throw new Fault('agent_not_found')
      return work(tx)
    })

  async function write(tx: Tx, agent: CanvasAgent, row: CanvasRow): Promise<Canvas> {
    await refuseForeignRun(tx, agent.id, row.updated_by_execution_id)
    await canvasStore(tx).put(row)
    await announce(tx, agent, 'canvas.updated', row)
    return canvasOf(row, agent.name, clock.now())
  }

  return {
    async list(agent, options) {
      const now = clock.now()
      const rows = await store.list(agent.id)
      const visible = options?.rosterOnly ? rows.filter(({ audience }) => audience === 'roster') : rows
      return visible.map((row) => summaryOf(row, agent.name, now))
    },

    async read(agent, canvasId, options) {
      const row = await store.find(agent.id, canvasId)
      if (!row || (options?.rosterOnly && row.audience !== 'roster')) throw new Fault('canvas_not_found')
      return canvasOf(row, agent.name, clock.now())
    },

    async put(agent, canvasId, { blocks, execution_id, ...body }) {
      await limits.use(rateRules.canvasWrite, agent.id)
      const normalized = JSON.stringify(normalizeBlocks(blocks, await sanitiseAll(blocks)))
      return serialized(agent, async (tx) => {
        const before = await canvasStore(tx).find(agent.id, canvasId)
        if (!before && (await canvasStore(tx).count(agent.id)) >= mostCanvases) {
          throw new Fault(
            'conflict',
            `The agent "${agent.name}" has ${mostCanvases} canvases: delete one first.`,
          )
        }
        const at = timestamp(clock.now())
        return write(tx, agent, {
          agent_id: agent.id,
          canvas_id: canvasId,
          ...body,
          pinned: before?.pinned ?? 0,
          created_at: before?.created_at ?? at,
          updated_at: at,
          updated_by_execution_id: execution_id,
          blocks: normalized,
        })
      })
    },

    async patch(agent, canvasId, { blocks, execution_id }) {
      await limits.use(rateRules.canvasWrite, agent.id)
      const sanitise = await sanitiseAll(blocks)
      return serialized(agent, async (tx) => {
        const before = await canvasStore(tx).find(agent.id, canvasId)
        if (!before) throw new Fault('canvas_not_found')
        return write(tx, agent, {
          ...before,
          updated_at: timestamp(clock.now()),
          updated_by_execution_id: execution_id,
          blocks: JSON.stringify(patchBlocks(blocksOf(before), before.template, blocks, sanitise)),
        })
      })
    },

    async pin(agent, canvasId, pinned) {
      const row = await db.atomically(async (tx) => {
        const changed = await canvasStore(tx).pin(agent.id, canvasId, pinned ? 1 : 0)
        if (!changed) throw new Fault('canvas_not_found')
        await announce(tx, agent, 'canvas.updated', changed)
        return changed
      })
      return summaryOf(row, agent.name, clock.now())
    },

    async remove(agent, canvasIds) {
      await limits.use(rateRules.canvasWrite, agent.id)
      const deleted = await db.atomically(async (tx) => {
        const removed = await canvasStore(tx).remove(agent.id, canvasIds)
        for (const row of removed) await announce(tx, agent, 'canvas.deleted', row)
        return removed
      })
      return deleted.map(({ canvas_id }) => canvas_id)
    },
  }
}

const sanitiseInWorker = inWorker<string>(new URL('./sanitise.ts', import.meta.url), 'sanitise')

/** Sanitizes all HTML of a request. Throws `validation_error` for HTML that takes too long. */
async function sanitiseAll(blocks: readonly { payload?: unknown }[]): Promise<Sanitise> {
  const sanitised = new Map<string, string>()
  for (const { html, path } of htmlOf(blocks)) {
    const clean = await sanitiseInWorker(html).catch((error: unknown) => {
      if (error instanceof TooComplex) throw invalidField(path, 'is too complex: nest fewer elements')
      throw error
    })
    sanitised.set(html, clean)
  }
  return (html) => {
    const clean = sanitised.get(html)
    if (clean === undefined) throw new Error('This HTML was not sanitized.')
    return clean
  }
}
