import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpoints } from '@roost/contracts'
import type { Endpoint } from '@roost/contracts/kit/endpoint'
import { errorCatalogue } from '@roost/contracts/kit/errors'
import { openApiDocument } from '@roost/contracts/openapi'
import { z } from 'zod'
import { type Json, type Operation, operationsOf, resolve, version, walk, wholeDocument } from './document.ts'

const document = wholeDocument()
const operations = new Map(operationsOf(document).map((operation) => [operation.id, operation]))
const operation = (id: string): Operation => operations.get(id) ?? assert.fail(`no operation ${id}`)

test('every reference leads to a component', () => {
  const lost: string[] = []
  let found = 0
  walk(document, ({ $ref }, way) => {
    if (typeof $ref !== 'string') return
    found += 1
    if (!$ref.startsWith('#/components/') || !resolve(document, $ref)) lost.push(`${way}: ${$ref}`)
  })
  assert.deepEqual(lost, [])
  assert.ok(found > 1000)
})

test('nothing is defined inside an operation, and no component has a generated name', () => {
  const nested: string[] = []
  walk(document, (object, way) => {
    if ('$defs' in object || 'definitions' in object) nested.push(way)
  })
  assert.deepEqual(nested, [])
  const { schemas } = document.components as { schemas: Json }
  assert.deepEqual(
    Object.keys(schemas).filter((name) => !/^[A-Z][A-Za-z0-9]*$/.test(name)),
    [],
  )
  for (const name of ['Agent', 'Schedule', 'ExecutionSummary', 'ExecutionDetails', 'Loop', 'ErrorBody'])
    assert.ok(schemas[name], name)
})

test('operation ids are unique', () => {
  const ids = operationsOf(document).map(({ id }) => id)
  assert.deepEqual(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
  )
  assert.equal(ids.length, endpoints.length)
})

test('an operation and the names in it are the same whichever other operations there are', () => {
  for (const rest of [0, 1]) {
    const half = endpoints.filter((_, index) => index % 2 === rest)
    const some = JSON.parse(JSON.stringify(openApiDocument(half, version))) as Json
    for (const { path, method } of half) {
      const key = `#/paths/${path.replaceAll('/', '~1')}/${method.toLowerCase()}`
      assert.deepEqual(resolve(some, key), resolve(document, key))
    }
    for (const kind of ['schemas', 'responses', 'parameters']) {
      const parts = resolve(some, `#/components/${kind}`) ?? {}
      for (const [name, part] of Object.entries(parts))
        assert.deepEqual(part, resolve(document, `#/components/${kind}/${name}`), name)
    }
  }
})

/** One of them passes the check of any parameter that becomes a number or a boolean. */
const texts = ['1', 'true', '24', '7']

test('a query parameter that the server reads as number or boolean is documented as one', () => {
  const wrong: string[] = []
  const counts = { integer: 0, boolean: 0 }
  for (const { id, query } of endpoints) {
    if (!(query instanceof z.ZodObject)) continue
    for (const [name, field] of Object.entries(query.shape as Record<string, z.ZodType>)) {
      const read = texts.map((text) => field.safeParse(text)).find(({ success }) => success)?.data
      const schema = operation(id).parameters.find((each) => each.name === name)?.schema
      const kinds: Record<string, unknown[]> = { number: ['integer', 'number'], boolean: ['boolean'] }
      const expected = kinds[typeof read]
      if (expected && !expected.includes(schema?.type)) wrong.push(`${id} ${name}: ${JSON.stringify(schema)}`)
      if (schema?.type === 'integer' || schema?.type === 'boolean') counts[schema.type] += 1
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(counts.integer >= 55 && counts.boolean >= 8, JSON.stringify(counts))
})

test('headers are listed where they are read', () => {
  const readers = (name: string) =>
    [...operations.values()]
      .filter(({ parameters }) => parameters.some((each) => each.in === 'header' && each.name === name))
      .map(({ id }) => id)
      .sort()
  assert.deepEqual(readers('Idempotency-Key'), [
    'callWebhook',
    'createAgent',
    'createReminder',
    'executeTask',
    'forkAgent',
    'runPlaybook',
    'runTask',
    'sendChat',
    'sendSessionMessage',
    'sendWorkspaceChat',
    'startCall',
    'startFanOut',
    'startLoop',
    'streamWorkspaceChat',
  ])
  for (const id of ['streamExecution', 'streamPublicTurn', 'streamWorkspaceRun'])
    assert.ok(readers('Last-Event-ID').includes(id), id)
  assert.deepEqual(readers('X-Svc-Signature'), ['callWebhook'])
  assert.ok(readers('Prefer').includes('sendChat'))
  assert.equal(readers('X-Request-ID').length, operations.size)
  assert.ok(operation('runTask').responses[200]?.headers?.['X-Idempotent-Replay'])
  assert.ok(operation('runTask').responses[200]?.headers?.Deprecation)
  assert.ok(operation('callWebhook').responses[429]?.headers?.['Retry-After'])
  assert.ok(operation('listAgents').responses[401]?.headers?.['WWW-Authenticate'])
})

const codesAt = (id: string, status: number): string[] => {
  const schema = operation(id).responses[status]?.content?.['application/json']?.schema
  const [, own] = (schema?.allOf ?? []) as { properties?: { error?: { enum?: string[] } } }[]
  return own?.properties?.error?.enum ?? []
}

test('statuses that follow from the endpoint are listed', () => {
  const missing: string[] = []
  const expect = (endpoint: Endpoint, status: number, code: string) => {
    if (!codesAt(endpoint.id, status).includes(code)) missing.push(`${endpoint.id}: ${status} ${code}`)
  }
  for (const endpoint of endpoints) {
    const { who, gate } = endpoint.access
    if (gate === 'human') expect(endpoint, 403, 'human_only')
    if (who === 'agent') expect(endpoint, 403, 'agent_identity_required')
    if (who !== 'none') expect(endpoint, 401, 'invalid_token')
    if (endpoint.method !== 'GET') {
      expect(endpoint, 413, 'body_too_large')
      expect(endpoint, 415, 'unsupported_media_type')
    }
    if (endpoint.query) expect(endpoint, 422, 'validation_error')
    expect(endpoint, 500, 'internal_error')
    expect(endpoint, 503, 'store_unavailable')
  }
  for (const id of ['putCanvas', 'putPreference', 'putSetting', 'addAgentTag', 'putProviderKey'])
    assert.ok(codesAt(id, 422).includes('validation_error'), id)
  assert.deepEqual(missing, [])
})

test('every error reply names codes of its own status, and only those', () => {
  for (const { id, responses } of operations.values())
    for (const status of Object.keys(responses).map(Number)) {
      if (status < 400) continue
      const codes = codesAt(id, status)
      assert.ok(codes.length > 0, `${id} ${status}`)
      for (const code of codes)
        assert.equal(errorCatalogue[code as keyof typeof errorCatalogue][0], status, `${id}: ${code}`)
    }
})

test('a reply has the shape of each of its media types', () => {
  const content = (id: string, status = 200) => operation(id).responses[status]?.content ?? {}
  const entries = { type: 'array', items: { $ref: '#/components/schemas/AuditLogEntry' } }
  assert.deepEqual(content('exportAuditLog')['application/json']?.schema, entries)
  assert.equal(content('exportAuditLog')['text/csv']?.schema?.type, 'string')
  assert.deepEqual(Object.keys(content('sendChat')).sort(), [
    'application/json',
    'application/x-ndjson',
    'text/event-stream',
  ])
  assert.equal(content('downloadFile', 206)['application/octet-stream']?.schema?.format, 'binary')
  assert.ok(operation('sendWorkspaceChat').responses[202])
  for (const { id, responses } of operations.values())
    for (const [status, reply] of Object.entries(responses)) {
      const schema = reply.content?.['application/json']?.schema
      if (schema?.type === 'string') assert.fail(`${id} ${status}: JSON documented as text`)
    }
})
