import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listed } from '../catalogue.ts'
import type { Audience, Tool } from '../tool.ts'
import { chatWith } from './chat.ts'
import { tools } from './index.ts'
import {
  type AgreedParameter,
  type AgreedTool,
  addedParameters,
  agreedTools,
  missingTools,
  readAgreed,
} from './test/agreed-tools.ts'

const agreed = readAgreed(agreedTools)
const marks: Record<Audience, string> = { everyone: '', person: 'P', agent: 'A', connector: 'C' }

test('every agreed tool exists or is listed as missing, and there are no others', () => {
  const expected = [...agreed.keys()].filter((name) => !Object.hasOwn(missingTools, name))
  assert.deepEqual(tools.map(({ name }) => name).sort(), expected.sort())
})

test('every tool listed as missing is agreed', () => {
  for (const name of Object.keys(missingTools)) assert.ok(agreed.has(name), name)
})

for (const tool of tools) {
  const agreement = agreed.get(tool.name)
  if (!agreement) continue
  const added = (addedParameters[tool.name] ?? []).map((name) => [name, { isOptional: true }])
  const expected = { ...agreement, parameters: { ...agreement.parameters, ...Object.fromEntries(added) } }
  test(`${tool.name}: has the agreed parameters and audience`, () => {
    assert.deepEqual(asAgreed(tool, expected), expected)
  })
}

test('added parameters belong to agreed tools and were not agreed before', () => {
  for (const [name, added] of Object.entries(addedParameters)) {
    const { parameters } = agreed.get(name) ?? assert.fail(name)
    for (const parameter of added) assert.ok(!Object.hasOwn(parameters, parameter), `${name}.${parameter}`)
  }
})

test('the tool of one agent has the parameters of chat_with_agent except the agent', () => {
  const { agent_name: _, ...parameters } = agreed.get('chat_with_agent')?.parameters ?? assert.fail()
  const own = chatWith({ agent_name: 'scout', tool_name: 'chat_with_scout', description: 'scout' })
  assert.deepEqual(asAgreed(own, { mark: '', parameters }), { mark: '', parameters })
})

/** Converts a tool to the form of the agreement. Defaults and bounds that are not agreed are ignored. */
function asAgreed(tool: Tool, expected: AgreedTool): AgreedTool {
  // A JSON Schema, of which this is a subset.
  const { properties = {}, required = [] } = listed(tool).inputSchema as Schema
  const parameters = Object.entries(properties).map(([name, schema]): [string, AgreedParameter] => {
    const isAgreed = (field: 'default' | 'maximum') => expected.parameters[name]?.[field] !== undefined
    return [
      name,
      {
        isOptional: !required.includes(name),
        ...(isAgreed('default') ? { default: schema.default } : {}),
        ...(isAgreed('maximum') ? { maximum: schema.maximum } : {}),
      },
    ]
  })
  return { mark: marks[tool.audience], parameters: Object.fromEntries(parameters) }
}

/** The used part of JSON Schema. */
type Schema = {
  properties?: Record<string, { default?: unknown; maximum?: unknown }>
  required?: string[]
}
