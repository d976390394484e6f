import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpoints } from '@roost/contracts'
import type { ErrorCode } from '@roost/contracts/kit/errors'
import { accessFailures } from '@roost/contracts/kit/failures'
import { type Kind, kinds } from './kinds.ts'
import { verdictOf } from './table.ts'

/** In addition to the table's kinds: an agent key that asks for an agent of another owner. */
const callers: Kind[] = [...kinds, { ...kindOf('other agent'), id: 'foreign agent', relation: null }]
/** Raised by the feature behind the guard, for an expired Workspace session. */
const beyondTheGuard: ErrorCode[] = ['session_expired']

test('each endpoint documents exactly the refusals that the guard gives', async () => {
  const mismatches: string[] = []
  for (const endpoint of endpoints) {
    // The table has a special rule for the first, and another listener for the others.
    if (endpoint.id === 'createSchedule' || endpoint.access.who === 'internal') continue
    const verdicts = await Promise.all(callers.map((kind) => verdictOf(endpoint, kind)))
    const raised = new Set(verdicts.filter((verdict) => /^\d/.test(verdict)).map((text) => text.slice(4)))
    const documented = new Set<string>(accessFailures(endpoint.access))
    for (const code of beyondTheGuard) documented.delete(code)
    const missing = [...raised].filter((code) => !documented.has(code))
    const unused = [...documented].filter((code) => !raised.has(code))
    if (missing.length + unused.length > 0)
      mismatches.push(`${endpoint.id}: not named ${missing}; never given ${unused}`)
  }
  assert.deepEqual(mismatches.slice(0, 20), [])
})

function kindOf(id: string): Kind {
  return kinds.find((kind) => kind.id === id) ?? assert.fail(id)
}
