import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { TemplateDetails, TemplateEntry } from '@roost/contracts/agents/templates'
import { systemClock } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import { createGit } from '../../ports/git/binary.ts'
import { templatesFolder } from '../test/world.ts'
import { requiredCredentials } from './credentials.ts'
import { openTemplates } from './open.ts'
import { parseTemplate } from './parse.ts'
import { parseTemplateSchedules } from './schedules.ts'

const head = 'name: mine\ndisplay_name: Mine\ndescription: For tests\n'
/** A host that does not answer. */
const gitBaseUrl = 'http://127.0.0.1:1'
const noGit = {
  git: createGit({
    baseUrl: gitBaseUrl,
    mayBeInner: true,
    folder: join(tmpdir(), 'roost-no-git'),
    path: process.env.PATH ?? '',
  }),
  platformGitToken: () => null,
}
const onlyLocal = { gitRepositories: async () => [], agents: async () => [] }
const at = (folder: string) => ({
  options: { templatesFolder: folder, templateContentFolder: join(tmpdir(), 'roost-no-content'), gitBaseUrl },
})
const noToken = async () => null

function bundled() {
  const { templates } = openTemplates({ ...noGit, ...onlyLocal, ...at(templatesFolder), clock: systemClock })
  return templates
}

async function folderWith(files: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'roost-templates-'))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  const now = { value: new Date('2030-01-01T00:00:00Z') }
  const { templates } = openTemplates({
    ...noGit,
    ...onlyLocal,
    ...at(folder),
    clock: { now: () => now.value },
  })
  return { folder, templates, now, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}

test('the bundled templates are valid and name their runtime', async () => {
  const templates = bundled()
  assert.deepEqual((await templates.refresh()).failed, [])
  const list = TemplateEntry.array().parse(await templates.list())
  assert.deepEqual(
    list.map(({ id, runtime, schedules_count }) => [id, runtime, schedules_count]),
    [
      ['local:business-assistant', 'claude-code', 1],
      ['local:codex-assistant', 'codex', 0],
      ['local:project-steward', 'claude-code', 2],
      ['local:research-analyst', 'claude-code', 2],
    ],
  )
  for (const { id } of list) {
    const { scheduleErrors, warnings } = await templates.resolve(id, noToken)
    assert.deepEqual({ scheduleErrors, warnings }, { scheduleErrors: [], warnings: [] }, id)
  }
  assert.match(await templates.env('local:project-steward'), /^TRACKER_TOKEN=$/m)
  const { template_warnings, warnings_count } = TemplateDetails.parse(
    await templates.get('local:codex-assistant'),
  )
  assert.deepEqual([template_warnings, warnings_count], [[], 0])
  assert.match(await templates.env('local:codex-assistant'), /no credentials/)
})

test('a missing field of a template.yaml is named as missing, an invalid one with its line', () => {
  const assertFault = (text: string, words: RegExp) =>
    assert.throws(
      () => parseTemplate(text),
      (error) => isFault(error, 'template_unresolvable') && words.test(error.message),
    )
  assertFault('display_name: Mine\ndescription: x\n', /: name: is required\./)
  assertFault('', /: name: is required\./)
  assertFault('name: mine\nname: 5\n', /line 2/)
  assertFault(`${head}resources: 3\n`, /: resources: must be an object \(line 4\)\./)
})

test('404 for an unknown template, 400 when creating an agent from one', async () => {
  const templates = bundled()
  await assert.rejects(templates.get('local:none'), (error) => isFault(error, 'template_not_found'))
  await assert.rejects(templates.get('../../etc'), (error) => isFault(error, 'template_not_found'))
  for (const name of ['none', '../business-assistant', 'local:../x', 'github:nope', 'https://x/y']) {
    await assert.rejects(
      templates.resolve(name, noToken),
      (error) => isFault(error, 'template_unresolvable'),
      name,
    )
  }
  assert.equal((await templates.resolve('local:codex-assistant', noToken)).name, 'codex-assistant')
  for (const name of ['github:acme/helper', 'github:acme/helper@dev/x']) {
    await assert.rejects(templates.resolve(name, noToken), (error) => isFault(error, 'upstream_error'), name)
  }
})

test('a changed template is visible after ten minutes or a refresh; hidden ones are not listed', async () => {
  await using local = await folderWith({ 'mine/template.yaml': head, 'broken/template.yaml': 'name: [' })
  const names = async () => (await local.templates.list()).map((each) => each.display_name)
  assert.deepEqual(await names(), ['Mine'])
  await assert.rejects(local.templates.get('local:broken'), (error) =>
    isFault(error, 'template_unresolvable'),
  )
  await writeFile(join(local.folder, 'mine/template.yaml'), head.replace('Mine', 'Yours'))
  assert.deepEqual(await names(), ['Mine'])
  local.now.value = new Date('2030-01-01T00:10:01Z')
  assert.deepEqual(await names(), ['Yours'])
  await writeFile(join(local.folder, 'mine/template.yaml'), `${head}hidden: true\n`)
  assert.deepEqual((await local.templates.refresh()).failed.length, 1)
  assert.deepEqual(await names(), [])
  assert.equal((await local.templates.resolve('mine', noToken)).file.hidden, true)
})

const refusals: [string, string, RegExp][] = [
  ['an alias', `${head}tags: &a [x]\nskills: *a\n`, /anchors|aliases/],
  ['a duplicate key', `${head}name: other\n`, /line 4|unique/i],
  ['a custom tag', `${head}author: !!js/function x\n`, /tag/i],
  ['invalid YAML', 'name: [unclosed', /line 1|flow/i],
  ['a missing field', 'name: mine\n', /display_name/],
  ['an invalid name', head.replace('mine', 'Bad Name'), /name.*line 1/s],
  ['an unknown runtime', `${head}runtime: {type: vim}\n`, /runtime\.type.*line 4/s],
  ['an unsupported CPU count', `${head}resources:\n  cpu: '3'\n`, /resources\.cpu/],
  ['a number for text', `${head}author: 5\n`, /author/],
  ['more than 256 KiB', `${head}# ${'x'.repeat(300_000)}\n`, /256 KiB/],
  ['a list at the top', '- a\n', /cannot be read/],
]
for (const [title, text, words] of refusals) {
  test(`400 template_unresolvable: ${title}`, () => {
    assert.throws(
      () => parseTemplate(text),
      (error) => isFault(error, 'template_unresolvable') && words.test(error.message),
    )
  })
}

test('unknown keys are ignored and missing ones have defaults', () => {
  const file = parseTemplate(`${head}surprise: 1\nskills: [a, {name: b, description: c}]\n`)
  assert.equal(file.type, 'business-assistant')
  assert.deepEqual(file.runtime, { type: 'claude-code', model: null })
  assert.deepEqual(file.skills, [
    { name: 'a', description: null },
    { name: 'b', description: 'c' },
  ])
  assert.deepEqual(file.credentials, { mcp_servers: {}, env_file: [], config_files: [] })
})

test('schedules: valid entries are accepted, invalid ones dropped by name', () => {
  const { schedules, errors } = parseTemplateSchedules([
    { name: 'daily', cron: '0 8 * * MON-FRI', message: 'go', timezone: 'Europe/Berlin' },
    { name: 'old', cron_expression: '0 0 * * *', message: 'x', enabled: false },
    'text',
    { cron: '* * * * *', message: 'x' },
    { name: 'a', cron: '* * * * *' },
    { name: 'b', message: 'x' },
    { name: 'c', cron: '@daily', message: 'x' },
    { name: 'd', cron: '* * * * *', message: 'x', timezone: '+02:00' },
    null,
  ])
  assert.deepEqual(
    schedules.map(({ name, enabled, timezone }) => [name, enabled, timezone]),
    [
      ['daily', true, 'Europe/Berlin'],
      ['old', false, 'UTC'],
    ],
  )
  assert.deepEqual(
    errors.map(({ index, error, name }) => [index, error, name]),
    [
      [2, 'not_an_object', undefined],
      [3, 'missing_name', undefined],
      [4, 'missing_message', 'a'],
      [5, 'missing_cron', 'b'],
      [6, 'invalid_cron_expression', 'c'],
      [7, 'invalid_timezone', 'd'],
      [8, 'not_an_object', undefined],
    ],
  )
})

test('schedules: at most twenty', () => {
  const entry = { name: 'x', cron: '* * * * *', message: 'x' }
  const { schedules, errors } = parseTemplateSchedules(Array.from({ length: 23 }, () => entry))
  assert.equal(schedules.length, 20)
  assert.deepEqual(
    errors.map(({ index, error }) => [index, error]),
    [[20, 'too_many_schedules']],
  )
  assert.deepEqual(parseTemplateSchedules(undefined), { schedules: [], errors: [] })
  assert.equal(parseTemplateSchedules('daily').errors[0]?.error, 'not_an_object')
})

test('schedules: text that cannot be stored is invalid, and does not fail the creation', () => {
  const { schedules, errors } = parseTemplateSchedules([{ name: 'x', cron: '* * * * *', message: 'a\0b' }])
  assert.deepEqual([schedules, errors.map(({ error }) => error)], [[], ['missing_message']])
})

test('required credentials: the union of all sources, without defaults and injected variables', () => {
  const names = requiredCredentials(
    {
      mcp_servers: { crm: { env_vars: ['CRM_TOKEN', 'ANTHROPIC_API_KEY'] } },
      env_file: ['CRM_TOKEN', 'MAIL_PASSWORD', 'GITHUB_PAT'],
      config_files: [],
    },
    {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the template file, not of JavaScript
      mcpTemplate: '{"env": {"A": "${SEARCH_KEY}", "B": "${PORT:-80}", "C": "${ROOST_MCP_URL}"}}',
      envExample: '# comment\nexport EXTRA=\nOPENAI_API_KEY=x\n1BAD=\n',
    },
  )
  assert.deepEqual(names, [
    { name: 'CRM_TOKEN', source: 'mcp:crm' },
    { name: 'MAIL_PASSWORD', source: 'env_file' },
    { name: 'SEARCH_KEY', source: 'mcp_json_template' },
    { name: 'EXTRA', source: 'env_example' },
  ])
})

test('the .env skeleton keeps template text on its own comment lines', async () => {
  const yaml = [
    head,
    'credentials: {env_file: [MY_TOKEN]}',
    'credential_setup:',
    '  - {name: MY_TOKEN, title: "Token\\nEVIL=1", description: "Where\\nto get it", default: "a\\nb"}',
  ].join('\n')
  await using local = await folderWith({ 'mine/template.yaml': yaml })
  const env = await local.templates.env('local:mine')
  assert.deepEqual(
    env.split('\n').filter((line) => line !== '' && !line.startsWith('#')),
    ['MY_TOKEN=a b'],
  )
})
