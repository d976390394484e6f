/** A misspelled filter must not widen a call that deletes something or acts on many things. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { endpoints } from '@roost/contracts'
import { type Endpoint, isStrict } from '@roost/contracts/kit/endpoint'
import { fieldNames } from '@roost/contracts/kit/in-query'
import { nameOf } from './table.ts'
import { internalSecret, openWorld, type World } from './world.ts'

const strict = endpoints.filter(isStrict)

let world: World
before(async () => {
  world = await openWorld()
  await world.makeAgent(world.admin, 'scout')
})
after(() => world?.[Symbol.asyncDispose]())

/** Recognizes names of wide or destructive calls; endpoints that this misses set `strict` themselves. */
function actsWidely({ method, id, path }: Endpoint): boolean {
  if (method === 'GET') return false
  if (method === 'DELETE') return true
  const byName =
    /^(bulk|clear|delete|discard|emergency|purge|reinitialize|remove|reset|restart|stop)(?!Agent$|Loop$|Voice$)|All([A-Z]|$)|Fleet|(pause|resume)Schedules/
  return byName.test(id) || /\/(bulk|fleet|purge|retention)\b|-all$|\/(clear|reset|sync|verify)$/.test(path)
}

/** The path names the single thing that changes, and no parameter can widen that. */
const narrow = [
  'verifyAgentKey',
  'verifyEmailCode',
  'verifyFactorLogin',
  'verifyWorkspaceCode',
  'syncSkillSource',
]

test('every endpoint that deletes, resets or acts on many things is strict', () => {
  const notStrict = endpoints.filter(
    (each) => actsWidely(each) && !isStrict(each) && !narrow.includes(each.id),
  )
  assert.deepEqual(notStrict.map(nameOf), [])
})

test('a strict endpoint lists its names, and accepts those of its JSON body in the query too', () => {
  const problems = strict.flatMap((each) => {
    const [query, body] = [fieldNames(each.query), fieldNames(each.body)]
    const isPlain = (each.bodyKind ?? 'json') === 'json'
    if (!query || !body || !isPlain) return [`${nameOf(each)}: query and body have to be plain objects`]
    const missing = [...body].filter((name) => !query.has(name))
    if (missing.length > 0) return [`${nameOf(each)}: the query does not take ${missing.join(', ')}`]
    if (body.size > 0 && !each.bodyOptional) return [`${nameOf(each)}: the body is not optional`]
    return []
  })
  assert.deepEqual(problems, [])
  assert.ok(strict.length > 40, `${strict.length} strict endpoints`)
})

const unknownName = 'no_such_name'
const values: Record<string, string> = { name: 'scout', provider: 'anthropic' }
const pathOf = ({ path }: Endpoint) =>
  path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => values[name] ?? 'anything')
/** Required query parameters, so that only the unknown name is wrong. */
const requiredQuery: Record<string, string> = { deleteFile: 'path=a.txt&' }
/** Refuses every call here, because the feature is disabled. */
const disabledEndpoints = ['deleteCallBinding']

for (const endpoint of strict) {
  test(`422 for an unknown name in the query or the body of ${nameOf(endpoint)}`, async () => {
    const internal = endpoint.access.who === 'internal'
    const token = internal ? internalSecret : world.admin
    const address = `${pathOf(endpoint)}?${requiredQuery[endpoint.id] ?? ''}`
    const inQuery = await world.ask(endpoint.method, `${address}${unknownName}=1`, { token, internal })
    if (disabledEndpoints.includes(endpoint.id)) return assert.equal(inQuery.error, 'feature_disabled')
    assert.equal(inQuery.status, 422, inQuery.text)
    assert.deepEqual(unknownNames(inQuery.text), [['query', unknownName]])
    const inBody = await world.ask(endpoint.method, address, { token, internal, body: { [unknownName]: 1 } })
    assert.equal(inBody.status, 422, inBody.text)
    assert.deepEqual(unknownNames(inBody.text), [['body', unknownName]])
    const asForm = await world.ask(endpoint.method, address, {
      token,
      internal,
      form: { [unknownName]: '1' },
    })
    // The internal listener takes JSON alone.
    const refusal = internal ? [415, 'unsupported_media_type'] : [422, 'invalid_json']
    assert.deepEqual([asForm.status, asForm.error], refusal, asForm.text)
  })
}

/** Locations of unknown names; missing fields may be reported too. */
function unknownNames(text: string): unknown[] {
  const { detail } = JSON.parse(text) as { detail: { loc: unknown[]; type: string }[] }
  assert.ok(Array.isArray(detail), text)
  return detail.filter(({ type }) => type === 'extra_forbidden').map(({ loc }) => loc)
}

test("the query's filter selects the fleet to stop; fields of a body take precedence", async () => {
  const token = world.admin
  for (const name of ['wing-a', 'wing-b', 'tail-a']) await world.makeAgent(token, name)
  const affected = async (query: string, body?: object) => {
    const path = `/api/ops/fleet/stop${query}`
    const { results } = await world.ok('POST', path, { token, ...(body ? { body } : {}) })
    return results.map(({ agent }: { agent: string }) => agent)
  }
  assert.deepEqual(await affected('?name_prefix=tail-&filter_status=all'), ['tail-a'])
  assert.deepEqual(await affected('?name_prefix=tail-&filter_status=all', { name_prefix: 'wing-b' }), [
    'wing-b',
  ])
  const nulled = await affected('?name_prefix=tail-&filter_status=all', { name_prefix: null })
  assert.deepEqual(nulled, ['tail-a'], 'null in the body leaves the filter of the query')
  const wrong = await world.ask('POST', '/api/ops/fleet/stop?filter_status=asleep', { token })
  assert.deepEqual([wrong.status, JSON.parse(wrong.text).detail[0].loc], [422, ['query', 'filter_status']])
  const unread = await world.ask('POST', '/api/ops/fleet/restart?recreate=perhaps', { token })
  assert.deepEqual([unread.status, JSON.parse(unread.text).detail[0].loc], [422, ['query', 'recreate']])
  const ids = await world.ok('POST', '/api/operator-queue/bulk-cancel?ids=a&ids=b&reason=x', { token })
  assert.deepEqual([ids.cancelled, ids.skipped], [0, 2])
})
