import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGitServer } from '@roost/test-support/git/index'
import { templateExample, templateGuide } from '../../../../mcp/src/tools/template-guide.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { openAgents } from '../test/world.ts'
import { requiredCredentials } from './credentials.ts'
import { readTemplate } from './parse.ts'
import { parseTemplateSchedules } from './schedules.ts'

const head = 'name: mine\ndisplay_name: Mine\ndescription: For tests\n'
const pathsOf = (text: string) => readTemplate(text).warnings.map(({ path }) => path)

test('the example for MCP clients parses without a warning and declares its credentials', () => {
  const { file, warnings } = readTemplate(templateExample)
  assert.deepEqual(warnings, [])
  assert.deepEqual(requiredCredentials(file.credentials, { mcpTemplate: null, envExample: null }), [
    { name: 'SEARCH_KEY', source: 'mcp:search' },
    { name: 'CRM_TOKEN', source: 'env_file' },
  ])
  assert.deepEqual(file.credentials.config_files, ['credentials/crm.pem'])
  assert.deepEqual(
    file.credential_setup.map(({ name, title }) => [name, title]),
    [['CRM_TOKEN', 'CRM token']],
  )
  const { schedules, errors } = parseTemplateSchedules(file.schedules)
  assert.deepEqual(errors, [])
  assert.deepEqual(
    schedules.map(({ name, timezone }) => [name, timezone]),
    [['Monday report', 'Europe/Berlin']],
  )
  assert.deepEqual(file.resources, { cpu: '2', memory: '4g' })
  assert.deepEqual(file.runtime, { type: 'claude-code', model: 'sonnet' })
  for (const line of templateExample.split('\n')) assert.ok(templateGuide.includes(line), line)
})

test('an unknown key is a warning with its path, line and the known keys', () => {
  const text = `${head}credentials:\n  env:\n    - name: CRM_TOKEN\n  env_file: [X]\n`
  assert.deepEqual(readTemplate(text).warnings, [
    {
      path: 'credentials.env',
      message:
        'Unknown key "env" in credentials is ignored (line 5). Known keys: mcp_servers, env_file, config_files.',
    },
  ])
})

const cases: [string, string, string[]][] = [
  ['the top level', 'shedules: []\n', ['shedules']],
  ['resources', 'resources: {cpu: "2", disk: 5g}\n', ['resources.disk']],
  ['runtime', 'runtime: {type: codex, version: 1}\n', ['runtime.version']],
  [
    'a server of credentials',
    'credentials: {mcp_servers: {crm: {env: [A]}}}\n',
    ['credentials.mcp_servers.crm.env'],
  ],
  ['credential_setup', 'credential_setup: [{name: A, url: x}]\n', ['credential_setup[0].url']],
  [
    'a schedule',
    'schedules: [{name: a, cron: "* * * * *", message: x, retries: 3}]\n',
    ['schedules[0].retries'],
  ],
  ['a dropped schedule', 'schedules: [5, {nmae: a}]\n', ['schedules[1].nmae']],
  ['shared_folders', 'shared_folders: {expose: true, mode: rw}\n', ['shared_folders.mode']],
  ['a skill', 'skills: [a, {name: b, version: 2}]\n', ['skills[1].version']],
  ['a metric', 'metrics: [{name: a, type: counter, colour: red}]\n', ['metrics[0].colour']],
  ['extension keys are allowed', 'x-team: {a: 1}\ncredential_setup: [{name: A, x-note: b}]\n', []],
  [
    'every known key is allowed',
    'hidden: true\nslash_commands: [a]\nschedules: [{cron_expression: "* * * * *"}]\n',
    [],
  ],
  ['a key that is not text', '5: x\n', ['5']],
  ['an empty value', 'credentials:\n', []],
]
for (const [title, text, expected] of cases) {
  test(`template warnings: ${title}`, () => assert.deepEqual(pathsOf(head + text), expected))
}

test('template warnings are bounded in number and length', () => {
  const many = Array.from({ length: 80 }, (_, index) => `key${index}: 1\n`).join('')
  const warnings = readTemplate(head + many).warnings
  assert.equal(warnings.length, 51)
  assert.match(warnings.at(-1)?.message ?? '', /^30 more/)
  const [long] = readTemplate(`${head}"${'k'.repeat(1_000)}\\u0007\\ud800": 1\n`).warnings
  assert.ok((long?.message.length ?? 0) < 600)
  assert.ok(long?.path.isWellFormed())
})

forEachDialect((_name, open) => {
  test('200 an agent from a template with unknown keys: the create reply and the info name them', async () => {
    await using server = await startGitServer()
    await server.commit('acme/odd', {
      'template.yaml': `${head}credentials: {env: [{name: CRM_TOKEN}]}\nsurprise: 1\n`,
    })
    await using world = await openAgents(await open(), { git: { url: server.url } })
    const owner = await world.person()
    const made = await world.request(owner.key, 'POST', '/api/agents', {
      name: 'odd',
      template: 'github:acme/odd',
    })
    assert.equal(made.status, 200, JSON.stringify(made.json))
    const paths = (json: { template_warnings: { path: string }[] }) =>
      json.template_warnings.map(({ path }) => path)
    assert.deepEqual(paths(made.json), ['credentials.env', 'surprise'])
    assert.deepEqual(made.json.missing_credentials, [])
    const info = await world.request(owner.key, 'GET', '/api/agents/odd/info')
    assert.deepEqual(paths(info.json), ['credentials.env', 'surprise'])
    const plain = await world.request(owner.key, 'POST', '/api/agents', { name: 'plain' })
    assert.deepEqual(plain.json.template_warnings, [])
  })
})
