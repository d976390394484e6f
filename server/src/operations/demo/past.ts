import { CreateSchedule } from '@roost/contracts/triggers/schedules'
import type { Agent } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { SessionCaller } from '../../identity/access/index.ts'
import { timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Tx } from '../../ports/database/port.ts'
import { rowOf, sourceOf } from '../../runs/dispatch/index.ts'
import { type ExecutionRow, executionStore, finishedEvent } from '../../runs/executions/index.ts'
import type { Prices } from '../../runs/prices/index.ts'
import { fireStore } from '../../triggers/fires/index.ts'
import type { Schedules } from '../../triggers/schedules/index.ts'
import { type DemoAgent, digestHour } from './content.ts'
import { type PastRun, pastFailure, pastRuns } from './history.ts'

export type PastDeps = {
  events: Pick<Outbox, 'append'>
  prices: Pick<Prices, 'lookup'>
  schedules: Pick<Schedules, 'restore'>
}

type Written = { agent: Agent; demo: DemoAgent; owner: SessionCaller; now: Date }

/** Writes the schedule of a new demo agent and the runs of its last days, without transcripts. */
export function createPast({ events, prices, schedules }: PastDeps) {
  async function addSchedule(tx: Tx, { agent, demo, owner, now }: Written): Promise<string | null> {
    if (!demo.schedule) return null
    const all = [CreateSchedule.parse(demo.schedule)]
    const [id = null] = await schedules.restore(tx, agent, owner.user, all, now)
    return id
  }

  function costOf(model: string, { at, inputTokens, outputTokens }: PastRun): number {
    const { price } = prices.lookup().priceOf('anthropic', model, at)
    // Dollars per million tokens are micro-dollars per token.
    return Math.round(inputTokens * price.input + outputTokens * price.output)
  }

  function rowFor(
    { agent, demo, owner }: Written,
    run: PastRun,
    place: { number: number; scheduleId: string | null },
  ): ExecutionRow {
    const { at, seconds, isFailed } = run
    const { model } = demo
    const about = { ...agent, model: agent.runtime_model }
    const request = {
      agentId: agent.id,
      kind: 'task' as const,
      triggeredBy: place.scheduleId === null ? ('manual' as const) : ('schedule' as const),
      message: run.message,
      source: sourceOf(owner, null),
      links: { scheduleId: place.scheduleId },
      metadata: { demo: true },
    }
    const accepted = { id: newId(), number: place.number, bounded: false, chain_depth: 0, now: at }
    return {
      ...rowOf(about, request, accepted),
      status: isFailed ? 'failed' : 'success',
      started_at: timestamp(at),
      spawned_at: timestamp(at),
      completed_at: timestamp(new Date(at.getTime() + seconds * 1000)),
      duration_ms: seconds * 1000,
      cost_micros: costOf(model, run),
      metered_requests: 4,
      model_used: model,
      input_tokens: run.inputTokens,
      output_tokens: run.outputTokens,
      num_turns: 4,
      tool_count: 3,
      ...(isFailed
        ? pastFailure
        : { response: 'Done. This run is part of the demo data; its steps are not stored.' }),
    }
  }

  return {
    async write(tx: Tx, written: Written): Promise<void> {
      const { agent, demo, now } = written
      const scheduleId = await addSchedule(tx, written)
      const runs = pastRuns(now, { ...demo.history, hour: demo.schedule ? digestHour : null })
      const rows = runs.map((run, number) => rowFor(written, run, { number, scheduleId }))
      await executionStore(tx).insertAll(rows)
      for (const row of rows) await events.append(tx, finishedEvent(row), now)
      if (scheduleId === null) return
      for (const { id, created_at } of rows) {
        await fireStore(tx).decide(
          { schedule_id: scheduleId, due_at: created_at, agent_id: agent.id },
          { outcome: 'fired', reason: null, execution_id: id, recorded_at: created_at },
        )
      }
    },
  }
}
