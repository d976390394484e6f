import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operationsOf, wholeDocument } from '../document.ts'
import { createReplyCheck, type Received } from './replies.ts'

const document = wholeDocument()
const problemOf = createReplyCheck(document)
const operations = new Map(operationsOf(document).map((operation) => [operation.id, operation]))

function check(id: string, status: number, body: unknown, over: Partial<Received> = {}): string | null {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'r1' }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const reply = { status, headers, text, isWhole: true, ...over }
  return problemOf(operations.get(id) ?? assert.fail(id), reply)
}
const label = { agent_name: 'scout', label: null }
const fault = (error: string) => ({ detail: 'A sentence.', error, request_id: 'r1' })

test('accepts replies that the document describes', () => {
  assert.equal(check('getAgentLabel', 200, label), null)
  assert.equal(check('getAgentLabel', 404, fault('agent_not_found')), null)
  assert.equal(check('getAgentLabel', 404, { ...fault('agent_not_found'), more: 1 }), null)
})

for (const [what, expected, problem] of [
  ['an undocumented status', 'the status 418 is not documented', () => check('getAgentLabel', 418, {})],
  ['a wrong type', 'body/label must be string', () => check('getAgentLabel', 200, { ...label, label: 1 })],
  ['a missing field', 'required property', () => check('getAgentLabel', 200, { label: null })],
  [
    'an undocumented field',
    'must NOT have additional',
    () => check('getAgentLabel', 200, { ...label, more: 1 }),
  ],
  [
    'an error code of another operation',
    'allowed values',
    () => check('getAgentLabel', 404, fault('loop_not_found')),
  ],
  ['text instead of JSON', 'not JSON', () => check('getAgentLabel', 200, 'oh')],
  [
    'an undocumented media type',
    'the media type "text/html" is not documented',
    () => check('getAgentLabel', 200, '', { headers: { 'content-type': 'text/html', 'x-request-id': 'r' } }),
  ],
  [
    'a missing request id',
    'no X-Request-ID',
    () => check('getAgentLabel', 200, label, { headers: { 'content-type': 'application/json' } }),
  ],
  [
    'a failure of the platform, although it is documented',
    'the platform failed: internal_error',
    () => check('getAgentLabel', 500, fault('internal_error')),
  ],
] as const) {
  test(`reports ${what}`, () => assert.match(problem() ?? 'nothing', new RegExp(expected)))
}
