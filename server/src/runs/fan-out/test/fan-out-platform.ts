import { FanOutBody } from '@roost/contracts/runs/fan-out'
import { createIdempotency, createWorkStates } from '../../../foundation/idempotency/index.ts'
import { silentLog } from '../../../ports/log.ts'
import { type RunPlatform, type RunPlatformOptions, startRunPlatform } from '../../../test/run-platform.ts'
import { createFanOuts, type FanOuts } from '../index.ts'

/** One process of the platform with fan-outs; two of them share only a database. */
export type FanOutPlatform = RunPlatform & { fanOuts: FanOuts }

export async function startFanOutPlatform(options: RunPlatformOptions): Promise<FanOutPlatform> {
  const platform = await startRunPlatform(options)
  const { db, clock, events, live, dispatch, hooks } = platform
  const works = createWorkStates()
  const idempotency = createIdempotency({ db, clock, log: silentLog, workState: works.ask })
  const fanOuts = createFanOuts({
    ...{ db, clock, events, live, dispatch, hooks, idempotency },
    log: silentLog,
    agentName: async (id) => `name-of-${id}`,
  })
  works.register(fanOuts.workState)
  return { ...platform, fanOuts }
}

/** A valid request with `count` tasks. */
export function fanOutBody(count: number, over: Record<string, unknown> = {}): FanOutBody {
  const tasks = Array.from({ length: count }, (_, index) => ({ message: `number ${index + 1}` }))
  return FanOutBody.parse({ tasks, async_mode: true, ...over })
}
