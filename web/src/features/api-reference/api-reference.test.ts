import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { endpoints } from '@roost/contracts'
import { openApiDocument } from '@roost/contracts/openapi'
import { type ApiDocument, exampleOf, operationsOf, typeName } from './api-document.ts'
import { type Language, requestOf, sampleOf } from './request.ts'
import { createSearch } from './search.ts'

const run = promisify(execFile)
const served = endpoints.filter(({ access }) => access.who !== 'internal')
const document = openApiDocument(served, '1.0.0') as unknown as ApiDocument
const operations = operationsOf(document)
const operation = (id: string) => {
  const found = operations.find((each) => each.id === id)
  assert.ok(found, id)
  return found
}

test('every operation of the document is read, with resolved parameters and replies', () => {
  assert.deepEqual(operations.map(({ id }) => id).toSorted(), served.map(({ id }) => id).toSorted())
  for (const { id, parameters, replies } of operations) {
    for (const { name, in: place } of parameters) assert.ok(name && place, id)
    assert.ok(
      replies.some(({ status }) => status < '300'),
      id,
    )
    for (const { status, description } of replies) assert.ok(description, `${id} ${status}`)
  }
})

test('the example of a JSON body passes the schema of the endpoint or misses only its own rules', () => {
  const refused = served.flatMap((endpoint) => {
    const { body } = operation(endpoint.id)
    if (!endpoint.body || !body || body.mediaType !== 'application/json') return []
    const result = endpoint.body.safeParse(exampleOf(document, body.schema))
    // Patterns and rules between fields are not part of the example; wrong types and missing fields are.
    const wrong = result.error?.issues.filter(({ code }) => code === 'invalid_type') ?? []
    return wrong.map(({ path, message }) => `${endpoint.id}: ${path.join('.')}: ${message}`)
  })
  assert.deepEqual(refused, [])
})

for (const [query, first] of [
  ['list agents', 'listAgents'],
  ['createAgent', 'createAgent'],
  ['POST /api/token', 'createToken'],
  ['/api/executions/stats', 'getExecutionStats'],
  ['fan-out', null],
  ['reserved_agent_name', null],
  ['signing_secret', null],
] as const) {
  test(`the search for “${query}” finds ${first ?? 'operations with it'}`, () => {
    const found = createSearch(document, operations)(query)
    assert.ok(found.length > 0)
    if (first) assert.equal(found[0]?.id, first)
  })
}

test('types have short names', () => {
  assert.equal(typeName({ $ref: '#/components/schemas/Agent' }), 'Agent')
  assert.equal(
    typeName({ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } }),
    '(string | null)[]',
  )
  assert.equal(typeName({ enum: ['a', 'b'] }), '"a" | "b"')
})

type Received = Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { body: string }
let received: Received | null = null
const server = createServer(async (request, response) => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  received = { ...pick(request), body: Buffer.concat(pieces).toString() }
  response.end('{}')
})
let origin = ''
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => server.close())

/** How each sample runs; `-` reads the program from its argument. */
const programs: Record<Language, (code: string) => [string, string[]]> = {
  curl: (code) => ['sh', ['-c', code]],
  typescript: (code) => [process.execPath, ['--input-type=module-typescript', '--eval', code]],
  python: (code) => ['python3', ['-c', withUrllib + code]],
}

/** Stands for the package `requests`, which the machine may lack: the same call through the standard library. */
const withUrllib = `
import sys, types, urllib.request
def request(method, url, headers={}, data=None, timeout=None):
    reply = urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=timeout)
    return types.SimpleNamespace(text=reply.read().decode(), raise_for_status=lambda: None)
sys.modules["requests"] = types.SimpleNamespace(request=request)
`

const body = JSON.stringify({ message: 'it\'s "quoted" $HOME `x` \\n ü', is: true, none: null }, null, 2)
for (const language of ['curl', 'typescript', 'python'] as const) {
  test(`the ${language} sample sends the request with the key of the environment`, async () => {
    const values = { parameters: { name: 'a b/c', 'Idempotency-Key': "it's" }, body }
    const request = requestOf(operation('runTask'), values)
    const code = sampleOf(language, request, { origin, needsToken: true })
    const [program, args] = programs[language](code)
    await run(program, args, { env: { ...process.env, ROOST_KEY: 'svc_mcp_sample' } })
    assert.equal(received?.method, 'POST')
    assert.equal(received?.url, '/api/agents/a%20b%2Fc/task')
    assert.equal(received?.headers.authorization, 'Bearer svc_mcp_sample')
    assert.equal(received?.headers['content-type'], 'application/json')
    assert.equal(received?.headers['idempotency-key'], "it's")
    assert.deepEqual(JSON.parse(received?.body ?? ''), JSON.parse(body))
  })
  test(`the ${language} sample of a read has its query, and no key where none is needed`, async () => {
    const request = requestOf(operation('listExecutions'), {
      parameters: { status: 'failed', search: 'a&b=c ü' },
      body: '',
    })
    const [program, args] = programs[language](sampleOf(language, request, { origin, needsToken: false }))
    await run(program, args)
    assert.equal(received?.method, 'GET')
    const { searchParams } = new URL(received?.url ?? '', origin)
    assert.deepEqual(
      [...searchParams],
      [
        ['status', 'failed'],
        ['search', 'a&b=c ü'],
      ],
    )
    assert.equal(received?.headers.authorization, undefined)
  })
}

function pick({ method, url, headers }: IncomingMessage) {
  return { method, url, headers }
}
