import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Client } from '@modelcontextprotocol/client'
import type { z } from 'zod'
import type { RequestForm } from '../requests.ts'
import { type ApiRequest, startWorld, type World } from '../test/world.ts'
import type { Tool } from '../tool.ts'
import { tools } from './index.ts'
import { type Field, fieldsOf, parameterOf } from './test/compare.ts'
import { sampleOf } from './test/samples.ts'

/** The header of every call; the argument `idempotency_key` has the same value. */
const key = 'sample-text'
let world: World
let person: Client
let agent: Client
before(async () => {
  world = await startWorld({ waitSeconds: 60, otherwise: () => ({ body: {} }) })
  world.routes.set('GET /api/version', () => ({ body: { enterprise_features: ['runnable_skills'] } }))
  world.routes.set('GET /api/skills/library', () => ({ body: [] }))
  person = await world.connect(world.key('user'), 'modern', { 'idempotency-key': key })
  agent = await world.connect(world.key('agent', 'scout'), 'modern', { 'idempotency-key': key })
})
after(() => world?.[Symbol.asyncDispose]())

for (const tool of tools) {
  for (const form of tool.requests) {
    const { endpoint, when } = form
    const condition = Object.keys(when).length > 0 ? ` with ${JSON.stringify(when)}` : ''
    test(`${tool.name}${condition}: every parameter reaches ${endpoint.id}`, async () => {
      const input = argumentsFor(tool, form)
      const sent = (await requestsOf(tool, input)).find((sent) => matches(form, sent))
      assert.ok(sent, `no request to ${endpoint.method} ${endpoint.path}`)
      for (const field of fieldsOf(endpoint)) {
        if (form.leftOut[field.field] !== undefined) continue
        const parameter = parameterOf(form, field.field)
        if (!Object.hasOwn(input, parameter)) continue
        assert.deepEqual(valueIn(sent, form, field), wireValue(field, input[parameter]), parameter)
      }
      const isIdempotent = endpoint.headers?.includes('Idempotency-Key') ?? false
      assert.equal(sent.headers['idempotency-key'], isIdempotent ? key : undefined)
    })
  }

  test(`${tool.name}: makes the requests that it declares and no others`, async () => {
    for (const form of tool.requests.length > 0 ? tool.requests : [null]) {
      const sent = await requestsOf(tool, form ? argumentsFor(tool, form) : {})
      for (const apiRequest of sent) {
        assert.ok(
          tool.requests.some((declared) => matches(declared, apiRequest)),
          `${apiRequest.method} ${apiRequest.path}`,
        )
      }
    }
  })
}

/** Returns the requests of one call, without those of the server itself. */
async function requestsOf(tool: Tool, input: Record<string, unknown>): Promise<ApiRequest[]> {
  const from = world.requests.length
  const client = tool.audience === 'agent' ? agent : person
  const result = await client.callTool({ name: tool.name, arguments: input })
  const said = JSON.stringify(result.content)
  assert.ok(!said.includes('invalid_parameters'), said)
  const ofServer = /^\/api\/(mcp\/validate|internal\/)/
  return world.requests.slice(from).filter(({ path }) => !ofServer.test(path))
}

/** Returns a value for every parameter that may be combined. */
function argumentsFor(tool: Tool, form: RequestForm): Record<string, unknown> {
  const shape = Object.entries(tool.input.shape as Record<string, z.ZodType>)
  const samples = Object.fromEntries(shape.map(([name, schema]) => [name, sampleOf(name, schema)]))
  const input = { ...samples, ...form.when }
  for (const name of incompatible(tool, form)) delete input[name]
  return input
}

/** Returns the parameters that the tool refuses for this request, or that select another one. */
function incompatible(tool: Tool, form: RequestForm): string[] {
  const used = new Set(fieldsOf(form.endpoint).map(({ field }) => parameterOf(form, field)))
  const isChoice = (each: RequestForm) => Object.keys(each.when).length > 0
  const ofOthers = tool.requests
    .filter((other) => other !== form && (isChoice(form) || isChoice(other)))
    .flatMap((other) => [
      ...Object.keys(other.when),
      ...fieldsOf(other.endpoint).map(({ field }) => parameterOf(other, field)),
    ])
  return ofOthers.filter((name) => !used.has(name) && !Object.hasOwn(form.when, name))
}

function matches({ endpoint }: RequestForm, { method, path }: ApiRequest): boolean {
  return endpoint.method === method && pathPattern(endpoint.path).test(path.split('?')[0] ?? '')
}

function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
}

function valueIn({ path, body }: ApiRequest, { endpoint }: RequestForm, { field, place }: Field): unknown {
  const [address = '', query] = path.split('?')
  if (place === 'query') return new URLSearchParams(query).get(field)
  if (place === 'body') return body?.[field]
  const value = pathPattern(endpoint.path).exec(address)?.groups?.[field.slice(1, -1)]
  return value === undefined ? undefined : decodeURIComponent(value)
}

function wireValue({ place }: Field, value: unknown): unknown {
  return place === 'body' ? value : String(value)
}
