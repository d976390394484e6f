import assert from 'node:assert/strict'
import { test } from 'node:test'
import { templateFacts } from './template-facts.ts'

test('reads the metadata of a template, with lists in a fixed order', () => {
  const facts = templateFacts({
    name: 'scout',
    display_name: 'Scout',
    version: 1.2,
    tags: ['sales'],
    use_cases: ['Find leads', ''],
    skills: [{ name: 'search', description: null }, 'write'],
    commands: [],
    credentials: {
      mcp_servers: { crm: { env_vars: ['CRM_TOKEN'] } },
      env_file: ['API_KEY'],
      config_files: ['.config/x.json'],
    },
    template_warnings: [{ path: 'credentials.env', message: 'Unknown key "env".' }],
  })
  assert.equal(facts.title, 'Scout')
  assert.equal(facts.version, '1.2')
  assert.deepEqual(facts.lists, [
    { heading: 'Use cases', items: ['Find leads'] },
    { heading: 'Skills', items: ['search', 'write'] },
    { heading: 'Tags', items: ['sales'] },
  ])
  assert.deepEqual(facts.credentials, [
    { name: 'CRM_TOKEN', source: 'crm' },
    { name: 'API_KEY', source: '.env' },
    { name: '.config/x.json', source: 'file' },
  ])
  assert.deepEqual(facts.warnings, [{ path: 'credentials.env', message: 'Unknown key "env".' }])
})

test('fields of an unexpected type are ignored', () => {
  const facts = templateFacts({
    display_name: { toString: 'no' },
    description: ['x'],
    tags: 'a',
    skills: [null, 3, {}, { name: [] }],
    credentials: { mcp_servers: [], env_file: { 0: 'X' } },
    template_warnings: [null, 'x', { path: 5 }, { path: 'a', message: {} }],
  })
  assert.equal(facts.title, null)
  assert.equal(facts.description, null)
  assert.deepEqual(facts.lists, [{ heading: 'Skills', items: ['3'] }])
  assert.deepEqual(facts.credentials, [])
  assert.deepEqual(facts.warnings, [])
})
