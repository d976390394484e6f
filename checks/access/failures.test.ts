import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpoints } from '@roost/contracts'
import type { ErrorCode } from '@roost/contracts/kit/errors'
import { accessFailures } from '@roost/contracts/kit/failures'
import { type Kind, kinds } from './kinds.ts'
import { verdictOf } from './table.ts'

/** Besides those of the table: the key of an agent that asks for one it cannot know of. */
const callers: Kind[] = [...kinds, { ...kindOf('other agent'), id: 'foreign agent', relation: null }]
/** Given by the feature behind the guard, to a Workspace session that has ended. */
const beyondTheGuard: ErrorCode[] = ['session_expired']

test('the documented refusals of each endpoint are those that the guard gives', async () => {
  const wrong: string[] = []
  for (const endpoint of endpoints) {
    // The table names a rule of its own for the one, and another listener for the others.
    if (endpoint.id === 'createSchedule' || endpoint.access.who === 'internal') continue
    const verdicts = await Promise.all(callers.map((kind) => verdictOf(endpoint, kind)))
    const given = new Set(verdicts.filter((verdict) => /^\d/.test(verdict)).map((text) => text.slice(4)))
    const documented = new Set<string>(accessFailures(endpoint.access))
    for (const code of beyondTheGuard) documented.delete(code)
    const missing = [...given].filter((code) => !documented.has(code))
    const idle = [...documented].filter((code) => !given.has(code))
    if (missing.length + idle.length > 0)
      wrong.push(`${endpoint.id}: not named ${missing}; never given ${idle}`)
  }
  assert.deepEqual(wrong.slice(0, 20), [])
})

function kindOf(id: string): Kind {
  return kinds.find((kind) => kind.id === id) ?? assert.fail(id)
}
