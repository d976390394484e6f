/** The platform killed again and again under load: the short form of `bench/chaos`, always the same. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runChaos } from '../../bench/chaos/chaos.ts'
import { figures } from '../../bench/chaos/report.ts'

const options = {
  scenario: 'api',
  database: 'sqlite',
  kills: 8,
  seed: 20,
  inFlight: 20,
  agents: ['claude-code', 'codex'],
  out: '',
} as const

test('killed eight times under load: nothing lost, done twice, stuck, leaked or unexplained', async (t) => {
  const findings = await runChaos(
    { ...options, agents: [...options.agents] },
    { tag: `ci-${process.pid}`, progress: (text) => t.diagnostic(text), enough: t.signal, hurry: t.signal },
  )
  const told = figures(findings)
  assert.deepEqual(findings.violations, [])
  assert.equal(findings.siege.struck.length, options.kills)
  assert.ok(told.runs >= options.inFlight && (told.statuses.success ?? 0) > 0, JSON.stringify(told))
  // Of a machine that other tests use, too: how quick it is on a quiet one, `bench/chaos` measures.
  assert.ok(told.recovery_ms.p50 < 60_000, `whole again after ${told.recovery_ms.p50} ms`)
})
