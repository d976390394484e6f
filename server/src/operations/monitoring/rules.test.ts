import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AgentState, judge, uptimePercent } from './rules.ts'

const config = {
  enabled: true,
  interval_seconds: 60,
  cpu_warning: 80,
  cpu_critical: 95,
  memory_warning: 85,
  memory_critical: 95,
  context_warning: 75,
  context_critical: 90,
  error_rate_warning: 0.3,
  error_rate_critical: 0.5,
  stuck_run_seconds: 1800,
  cooldown_seconds: 900,
}
const well: AgentState = {
  desired: 'running',
  status: 'running',
  exit_code: null,
  oom_killed: false,
  held: false,
  settledSeconds: 3600,
  isLinked: true,
  heartbeat: 'alive',
  cpu_percent: 10,
  memory_percent: 10,
  context_percent: 10,
  success: 10,
  failed: 0,
  stuck: 0,
  syncFailures: 0,
  isRefused: false,
}

const table: [what: string, over: Partial<AgentState>, status: string, says: RegExp | null][] = [
  ['all is well', {}, 'healthy', null],
  ['nothing is known of its use', { cpu_percent: null, memory_percent: null }, 'healthy', null],
  ['it never beat, and has its link', { heartbeat: 'unsupported' }, 'healthy', null],
  ['it was stopped on purpose', { desired: 'stopped', status: 'stopped' }, 'unknown', null],
  ['it is between stop and start', { status: 'stopped', settledSeconds: 5 }, 'unknown', null],
  ['it was started a moment ago', { isLinked: false, settledSeconds: 5 }, 'unknown', null],
  ['it does not run, for long', { status: 'stopped' }, 'critical', /does not/],
  ['it crashed', { status: 'exited', exit_code: 137, settledSeconds: 1 }, 'critical', /exit code 137/],
  ['memory ran out', { status: 'exited', oom_killed: true }, 'critical', /out of memory/],
  ['it keeps crashing', { status: 'exited', held: true }, 'critical', /stays down/],
  ['no link', { isLinked: false, heartbeat: 'stale' }, 'unhealthy', /no link/],
  ['silence', { heartbeat: 'stale' }, 'degraded', /20 seconds/],
  ['memory, warned of', { memory_percent: 85 }, 'degraded', /85 % of its memory/],
  ['memory', { memory_percent: 95 }, 'critical', /95 % of its memory/],
  ['CPU, warned of', { cpu_percent: 94.9 }, 'degraded', /CPUs/],
  ['CPU', { cpu_percent: 99 }, 'unhealthy', /CPUs/],
  ['context, warned of', { context_percent: 75 }, 'degraded', /75 % full/],
  ['context', { context_percent: 90 }, 'critical', /90 % full/],
  ['failures, warned of', { success: 7, failed: 3 }, 'degraded', /30 % of its runs/],
  ['failures', { success: 1, failed: 2 }, 'unhealthy', /67 % of its runs/],
  ['two failed runs say nothing yet', { success: 0, failed: 2 }, 'healthy', null],
  ['a silent run', { stuck: 1 }, 'degraded', /One of its runs/],
  ['two failed syncs', { syncFailures: 2 }, 'healthy', null],
  ['three failed syncs', { syncFailures: 3 }, 'degraded', /3 syncs/],
  ['its provider refuses', { isRefused: true }, 'degraded', /refused/],
  ['the worst counts and comes first', { heartbeat: 'stale', memory_percent: 99 }, 'critical', /memory/],
]

for (const [what, over, status, says] of table) {
  test(`${status}: ${what}`, () => {
    const found = judge({ ...well, ...over }, config)
    assert.equal(found.status, status)
    if (says) assert.match(found.issues[0]?.text ?? '', says)
    else assert.deepEqual(found.issues, [])
  })
}

test('uptime is the share of checks; null without checks', () => {
  assert.equal(uptimePercent([]), null)
  assert.equal(
    uptimePercent([
      { isUp: true, total: 3 },
      { isUp: false, total: 1 },
    ]),
    75,
  )
})
