import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checklistRemark, requirementWords, sourceWords } from './words.ts'

const list = {
  agent_name: 'scout',
  requirements_source: 'catalog' as const,
  status_source: 'unavailable' as const,
  degraded_reason: null,
  requirements: [],
  summary: { total: 0, set: 0, missing: 0, unknown: 0, blocking: 0 },
  errors: [],
}

test('the tone of a missing credential depends on whether it is required', () => {
  assert.equal(requirementWords({ status: 'missing', required: true }).tone, 'danger')
  assert.equal(requirementWords({ status: 'missing', required: 'unknown' }).tone, 'warning')
  assert.equal(requirementWords({ status: 'set', required: true }).tone, 'success')
})

test('a complete checklist has no remark; others explain why', () => {
  assert.equal(checklistRemark({ ...list, state: 'ok' }), null)
  const degraded = { ...list, state: 'degraded' as const, degraded_reason: 'It sleeps.' }
  assert.equal(checklistRemark(degraded)?.text, 'It sleeps.')
  const incomplete = { ...list, state: 'declaration_incomplete' as const, errors: ['A: unknown key'] }
  assert.equal(checklistRemark(incomplete)?.text, 'A: unknown key')
})

test('describes the source of a requirement; an unknown source stays unchanged', () => {
  assert.equal(sourceWords('mcp:crm'), 'for the MCP server crm')
  assert.equal(sourceWords('of_tomorrow'), 'of_tomorrow')
})
