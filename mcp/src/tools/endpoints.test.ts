import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpoint } from '@roost/contracts/kit/endpoint'
import { queryInteger } from '@roost/contracts/kit/primitives'
import { z } from 'zod'
import { listed } from '../catalogue.ts'
import { asQuery, bodyOf, described, queryOf, request, without } from '../requests.ts'
import { tool } from '../tool.ts'
import { chatWith } from './chat.ts'
import { tools } from './index.ts'
import { differences } from './test/compare.ts'

const published = chatWith({ agent_name: 'scout', tool_name: 'chat_with_scout', description: 'scout' })

for (const each of [...tools, published]) {
  test(`${each.name}: has the parameters of its endpoints, with a reason for every difference`, () => {
    assert.deepEqual(differences(each), [])
  })
}

test('the misfire policy of a schedule can be set, and an agent can have a hundred tags', () => {
  const schemaOf = (name: string) => {
    const candidate = tools.find((each) => each.name === name) ?? assert.fail(name)
    // A JSON Schema.
    return listed(candidate).inputSchema.properties as Record<string, { enum?: string[]; maxItems?: number }>
  }
  for (const name of ['create_agent_schedule', 'update_agent_schedule']) {
    assert.deepEqual(schemaOf(name).misfire_policy?.enum, ['run_once', 'skip', 'run_all'])
  }
  assert.equal(schemaOf('set_agent_tags').tags?.maxItems, 100)
})

test('no parameter is listed by reference, and every object refuses unknown keys', () => {
  const closed = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null) return true
    const isOpen = 'properties' in value && 'type' in value && (value as Loose).additionalProperties !== false
    return !isOpen && Object.values(value).every(closed)
  }
  for (const each of [...tools, published]) {
    const schema = listed(each).inputSchema
    assert.ok(!JSON.stringify(schema).includes('$ref'), each.name)
    assert.ok(closed(schema), each.name)
  }
})

type Loose = Record<string, unknown>

// An endpoint and tools that break the rules, to verify that the comparison finds each breach.
const paint = endpoint({
  id: 'paint',
  method: 'POST',
  path: '/api/agents/{name}/paint',
  summary: 'Paint',
  tag: 'Test',
  access: { who: 'any' },
  params: z.object({ name: z.string() }),
  query: z.object({ limit: queryInteger(1, 200, 50) }),
  body: z.object({
    colour: z.enum(['red', 'blue']),
    layers: z.number().int().min(1).max(5).default(1),
    note: z
      .string()
      .max(100)
      .nullish()
      .transform((text) => text ?? null),
    spots: z
      .array(z.object({ x: z.number() }))
      .max(3)
      .optional(),
  }),
})
const painter = (input: z.ZodRawShape, form: Parameters<typeof request>[1] = {}, own = {}) =>
  differences(
    tool({
      name: 'paint',
      description: 'For tests.',
      audience: 'everyone',
      effect: 'write',
      requests: [request(paint, form)],
      own,
      input,
      run: async () => ({}),
    }),
  )
const right = { agent_name: z.string(), ...queryOf(paint), ...bodyOf(paint) }
const breaches: [string, string[], RegExp][] = [
  ['a field without a parameter', painter(without(right, 'note')), /note has no parameter and no/],
  ['a missing value of an enum', painter({ ...right, colour: z.enum(['red']) }), /colour takes .*blue/],
  [
    'another maximum',
    painter({ ...right, layers: z.number().int().min(1).max(4).default(1) }),
    /layers takes/,
  ],
  [
    'another maximum of a query field',
    painter({ ...right, limit: z.number().int().min(1).max(100).optional() }),
    /limit takes/,
  ],
  ['another type', painter({ ...right, limit: z.string().optional() }), /limit takes/],
  ['null refused', painter({ ...right, note: z.string().max(100).optional() }), /note takes/],
  [
    'another bound inside of a list',
    painter({
      ...right,
      spots: z
        .array(z.object({ x: z.number().min(1) }))
        .max(3)
        .optional(),
    }),
    /spots takes/,
  ],
  [
    'another length of a list',
    painter({
      ...right,
      spots: z
        .array(z.object({ x: z.number() }))
        .max(2)
        .optional(),
    }),
    /spots takes/,
  ],
  [
    'required although the field is optional',
    painter({ ...right, layers: z.number().int().min(1).max(5) }),
    /layers is optional/,
  ],
  [
    'optional although the field is required',
    painter({ ...right, colour: z.enum(['red', 'blue']).optional() }),
    /colour is required/,
  ],
  ['a parameter without a field', painter({ ...right, gloss: z.boolean() }), /gloss is not a field/],
  ['a path parameter that is missing', painter(without(right, 'agent_name')), /\{name\} has no parameter/],
  [
    'an excuse for no difference',
    painter(right, { differs: { note: 'It does not.' } }),
    /note does not differ/,
  ],
  ['an excuse for a field that is gone', painter(right, { leftOut: { brush: 'None.' } }), /no field brush/],
  [
    'an excuse without a reason',
    painter(without(right, 'note'), { leftOut: { note: '' } }),
    /without a reason/,
  ],
  ['an own parameter that is a field', painter(right, {}, { note: 'Own.' }), /note needs no reason/],
]
for (const [title, candidate, words] of breaches) {
  test(`the comparison finds: ${title}`, () => {
    assert.equal(candidate.length, 1, candidate.join('\n'))
    assert.match(candidate[0] ?? '', words)
  })
}

test('the comparison allows descriptions, defaults of the tool, names of its own and reasons', () => {
  const renamed = { ...without(right, 'colour'), hue: right.colour }
  for (const candidate of [
    painter(right),
    painter(described(right, { note: 'A remark.' })),
    painter({ ...right, layers: z.number().int().min(1).max(5).default(3) }),
    painter(renamed, { as: { colour: 'hue' } }),
    painter(without(right, 'note'), { leftOut: { note: 'Not for models.' } }),
    painter(
      { ...right, limit: z.number().int().min(1).max(9).optional() },
      { differs: { limit: 'Short lists.' } },
    ),
    painter({ ...right, gloss: z.boolean() }, {}, { gloss: 'Chooses the brush.' }),
  ]) {
    assert.deepEqual(candidate, [])
  }
})

test('fields are sent as given: without defaults and transforms of the endpoint, numbers of a query as text', () => {
  assert.deepEqual(z.object(bodyOf(paint)).parse({ colour: 'red' }), { colour: 'red' })
  const schema = z.toJSONSchema(z.object({ ...queryOf(paint), ...bodyOf(paint) }), { io: 'input' })
  assert.deepEqual(
    [schema.properties?.limit, schema.properties?.layers],
    [
      { default: 50, type: 'integer', minimum: 1, maximum: 200 },
      { default: 1, type: 'integer', minimum: 1, maximum: 5 },
    ],
  )
  assert.deepEqual(asQuery({ limit: 5, all: true, q: 'x', none: undefined }), {
    limit: '5',
    all: 'true',
    q: 'x',
    none: undefined,
  })
})
