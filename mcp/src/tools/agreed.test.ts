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
  notThere,
  readAgreed,
} from './test/agreed-tools.ts'

const agreed = readAgreed(agreedTools)
const marks: Record<Audience, string> = { everyone: '', person: 'P', agent: 'A', connector: 'C' }

test('every agreed tool is there or is said to be missing, and there is no other one', () => {
  const expected = [...agreed.keys()].filter((name) => !Object.hasOwn(notThere, name))
  assert.deepEqual(tools.map(({ name }) => name).sort(), expected.sort())
})

test('what is said to be missing is agreed', () => {
  for (const name of Object.keys(notThere)) assert.ok(agreed.has(name), name)
})

for (const tool of tools) {
  const found = agreed.get(tool.name)
  if (!found) continue
  const added = (addedParameters[tool.name] ?? []).map((name) => [name, { isOptional: true }])
  const wanted = { ...found, parameters: { ...found.parameters, ...Object.fromEntries(added) } }
  test(`${tool.name}: has the agreed parameters and audience`, () => {
    assert.deepEqual(asAgreed(tool, wanted), wanted)
  })
}

test('parameters were added to agreed tools, and only where they were not agreed already', () => {
  for (const [name, added] of Object.entries(addedParameters)) {
    const { parameters } = agreed.get(name) ?? assert.fail(name)
    for (const parameter of added) assert.ok(!Object.hasOwn(parameters, parameter), `${name}.${parameter}`)
  }
})

test('the tool of one agent takes what chat_with_agent takes, without the agent', () => {
  const { agent_name: _, ...parameters } = agreed.get('chat_with_agent')?.parameters ?? assert.fail()
  const own = chatWith({ agent_name: 'scout', tool_name: 'chat_with_scout', description: 'scout' })
  assert.deepEqual(asAgreed(own, { mark: '', parameters }), { mark: '', parameters })
})

/** The tool in the terms of the agreement; defaults and bounds that nothing is agreed upon are the tool's own. */
function asAgreed(tool: Tool, wanted: AgreedTool): AgreedTool {
  // A JSON Schema, of which this is a part.
  const { properties = {}, required = [] } = listed(tool).inputSchema as Schema
  const parameters = Object.entries(properties).map(([name, schema]): [string, AgreedParameter] => {
    const isAgreed = (field: 'default' | 'maximum') => wanted.parameters[name]?.[field] !== undefined
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

/** What of JSON Schema is looked at. */
type Schema = {
  properties?: Record<string, { default?: unknown; maximum?: unknown }>
  required?: string[]
}
