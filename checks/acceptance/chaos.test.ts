/** The platform killed repeatedly under load: the short form of `bench/chaos`, with fixed parameters. */
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
  const summary = figures(findings)
  assert.deepEqual(findings.violations, [])
  assert.equal(findings.siege.struck.length, options.kills)
  assert.ok(summary.runs >= options.inFlight && (summary.statuses.success ?? 0) > 0, JSON.stringify(summary))
  // A generous bound, because other tests share the machine; `bench/chaos` measures the real value.
  assert.ok(summary.recovery_ms.p50 < 60_000, `recovered after ${summary.recovery_ms.p50} ms`)
})
