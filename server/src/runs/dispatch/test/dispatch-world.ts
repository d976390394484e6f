import assert from 'node:assert/strict'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { createTestClock } from '../../../test/clock.ts'
import type { OpenTestDb } from '../../../test/dialects.ts'
import { agentFact, linked, type RunPlatform, startRunPlatform } from '../../../test/run-platform.ts'

export const line = (text: string): TranscriptLine => ({
  type: 'system',
  subtype: 'notice',
  level: 'info',
  message: text,
})
export const hello = (held: object[] = []) => ({
  t: 'hello' as const,
  protocol: 1,
  agent_name: 'scout',
  image_version: null,
  runtime: 'claude-code' as const,
  runtime_version: null,
  started_at: '2026-01-05T08:00:00.000Z',
  held: held as never,
  abilities: ['principals'],
})

export async function start(open: OpenTestDb, options: { queueDepth?: number; slots?: number } = {}) {
  const db = await open()
  const clock = createTestClock()
  const platform = await startRunPlatform({ db, clock, ...options })
  platform.agents.set('a1', agentFact({ effective_slots: options.slots ?? 3 }))
  return { platform, clock, db, on: platform.dispatch.handlers }
}
export const claim = (platform: RunPlatform, free = 9) =>
  platform.dispatch.handlers.claim(linked, { t: 'claim', free }).then(({ runs }) => runs)
export const claimOne = async (platform: RunPlatform) => {
  const [run] = await claim(platform, 1)
  assert.ok(run, 'a run was claimed')
  return run
}
export const eventsOf = async (platform: RunPlatform) => {
  await platform.events.relaying.pass()
  return (await platform.events.after(0, 1000)).map(({ type }) => type)
}

export function hold({ execution_id, claim_token }: { execution_id: string; claim_token: number }) {
  return { execution_id, claim_token }
}
