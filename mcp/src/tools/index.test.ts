import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyScopes } from '@roost/contracts/kit/access'
import { isSeenBy, listed } from '../catalogue.ts'
import { tools } from './index.ts'

test('names are unique, and every tool has a description for models', () => {
  assert.equal(new Set(tools.map(({ name }) => name)).size, tools.length)
  for (const { name, description } of tools) {
    assert.match(name, /^[a-z][a-z0-9_]{1,63}$/)
    assert.ok(description.length >= 20 && /[.:]$/.test(description), name)
  }
})

test('every schema is an object that names its unknown parameters', () => {
  for (const tool of tools) {
    const { inputSchema, outputSchema } = listed(tool)
    assert.equal(inputSchema.type, 'object')
    assert.equal(inputSchema.additionalProperties, false, tool.name)
    if (outputSchema) assert.equal(outputSchema.type, 'object')
  }
})

test('agents see no tools for people, and fenced keys see only their own tools', () => {
  for (const tool of tools) {
    const scopes = keyScopes.filter((scope) => isSeenBy(tool, scope))
    assert.ok(scopes.includes('user') && scopes.includes('system'), tool.name)
    assert.equal(scopes.includes('agent'), tool.audience !== 'person', tool.name)
    assert.equal(scopes.includes('connector'), tool.audience === 'connector', tool.name)
    assert.ok(!scopes.includes('ops') && !scopes.includes('portal_delegate'), tool.name)
  }
})

test('the whole list is small enough for the context of a model', () => {
  const bytes = JSON.stringify(tools.map(listed)).length
  assert.ok(bytes < 200_000, `${bytes} bytes`)
})
