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

test('what is missing weighs by whether it is needed', () => {
  assert.equal(requirementWords({ status: 'missing', required: true }).tone, 'danger')
  assert.equal(requirementWords({ status: 'missing', required: 'unknown' }).tone, 'warning')
  assert.equal(requirementWords({ status: 'set', required: true }).tone, 'success')
})

test('a checklist that is whole needs no remark; others say why', () => {
  assert.equal(checklistRemark({ ...list, state: 'ok' }), null)
  const degraded = { ...list, state: 'degraded' as const, degraded_reason: 'It sleeps.' }
  assert.equal(checklistRemark(degraded)?.text, 'It sleeps.')
  const incomplete = { ...list, state: 'declaration_incomplete' as const, errors: ['A: unknown key'] }
  assert.equal(checklistRemark(incomplete)?.text, 'A: unknown key')
})

test('who wants it is told; an unknown source stays as it is', () => {
  assert.equal(sourceWords('mcp:crm'), 'for the MCP server crm')
  assert.equal(sourceWords('of_tomorrow'), 'of_tomorrow')
})
