import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseDotenv } from '@roost/contracts/kit/dotenv'
import { suppressedVariables } from '@roost/contracts/link/credentials'
import { DeclaredMetric } from '@roost/contracts/operations/agent-metrics'
import { renderMcp } from '../agent/src/credentials/render.ts'
import { systemClock } from '../agent/src/kit/clock.ts'
import { createIdentities } from '../agent/src/processes/identity.ts'
import { makeTestHome, ownersFilesOf } from '../agent/src/test/home.ts'
import { runPreCheck } from '../agent/src/workspace/pre-check.ts'
import { requiredCredentials } from '../server/src/agents/templates/credentials.ts'
import { readTemplate, TemplateKeys } from '../server/src/agents/templates/parse.ts'
import { parseTemplateSchedules } from '../server/src/agents/templates/schedules.ts'
import { declaredMetrics, parseValues, viewMetric } from '../server/src/operations/metrics/rules.ts'
import { Entry, readEntries } from '../server/src/operations/operator-queue/file-entries.ts'
import { Frontmatter, readFrontmatter } from '../server/src/skills/library/frontmatter.ts'
import { type Block, blocksOf, fieldsOf, firstColumn } from './agent-pages.ts'

/** Every example of `docs/agents` is read by the parser that the platform uses for such a file. */
const folder = join(import.meta.dirname, '../docs/agents')
const pages = new Map(
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const),
)
const blocks = [...pages].flatMap(([name, text]) => blocksOf(name, text))
const pageOf = (name: string) => pages.get(name) ?? assert.fail(`docs/agents/${name} does not exist`)

const head = 'name: example\ndisplay_name: Example\ndescription: An example.\n'
const uid = process.getuid?.() ?? 0
const identities = createIdentities({
  uid,
  hasAmbient: false,
  homeOwner: { uid, gid: process.getgid?.() ?? 0 },
  hasSetpriv: false,
})

/** The block that follows, with the message that the page promises. */
function messageAfter(block: Block, about: string): string {
  const next = blocks[blocks.indexOf(block) + 1]
  assert.equal(next?.about, about, `the ${about} must follow`)
  return next.text.trim()
}

/** The nearest block of that kind above. */
function before(block: Block, about: string): Block {
  const found = blocks.slice(0, blocks.indexOf(block)).findLast((each) => each.about === about)
  return found?.page === block.page ? found : assert.fail(`no block "${about}" above`)
}

function acceptTemplate(text: string): void {
  const { file, warnings } = readTemplate(text)
  assert.deepEqual(warnings, [])
  assert.deepEqual(parseTemplateSchedules(file.schedules).errors, [])
  assert.equal(declaredMetrics(file.metrics).length, file.metrics.length, 'a metric is invalid')
}

const readers: Record<string, (block: Block) => unknown> = {
  'yaml template.yaml': ({ text }) => acceptTemplate(text),
  'yaml template.yaml fragment': ({ text }) => acceptTemplate(head + text),
  'yaml template.yaml refused': (block) =>
    assert.throws(() => readTemplate(block.text), { message: messageAfter(block, 'refusal') }),
  'yaml template.yaml warned': (block) =>
    assert.deepEqual(
      readTemplate(block.text).warnings.map(({ message }) => message),
      [messageAfter(block, 'warning')],
    ),
  'json metrics.json': ({ text }) => assert.ok(parseValues(text), 'not a flat object'),
  'json metrics': (block) => {
    const { file } = readTemplate(head + before(block, 'template.yaml fragment').text)
    const values = parseValues(before(block, 'metrics.json').text)
    const shown = declaredMetrics(file.metrics).map((metric) => viewMetric(metric, values?.get(metric.name)))
    assert.deepEqual(JSON.parse(block.text), shown)
  },
  'json operator-queue.json': ({ text }) => {
    const { requests } = JSON.parse(text)
    const { entries, faults } = readEntries(requests)
    assert.deepEqual(faults, [])
    assert.equal(entries.size, requests.length)
  },
  'json operator-queue.json refused': (block) =>
    assert.deepEqual(readEntries(JSON.parse(block.text).requests).faults, [messageAfter(block, 'refusal')]),
  'json .mcp.json.template': ({ text }) => {
    const names = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [name, 'value'])
    const values = Object.fromEntries(names)
    const { leftOut, rendered } = renderMcp({
      template: text,
      present: null,
      rendered: {},
      values,
      own: null,
    })
    assert.deepEqual(leftOut, [])
    assert.deepEqual(Object.keys(rendered), Object.keys(JSON.parse(text).mcpServers))
  },
  'sh .env.example': ({ text }) => {
    const none = { mcp_servers: {}, env_file: [], config_files: [] }
    const required = requiredCredentials(none, { mcpTemplate: null, envExample: text })
    const names = Object.keys(parseDotenv(text))
    assert.deepEqual(
      required.map(({ name }) => name),
      names,
    )
  },
  'sh pre-check': ({ text }) => runsAsPreCheck(text),
  'sh setup.sh': ({ text }) => assert.match(text, /^#!\/bin\/bash\n/),
  'markdown SKILL.md': ({ text }) => {
    const { warnings, title, description, automation, requires, allowed_tools } = readFrontmatter(text)
    assert.deepEqual(warnings, [])
    for (const value of [title, description, automation]) assert.ok(value)
    for (const names of [...Object.values(requires), allowed_tools]) assert.ok(names.length > 0)
  },
  'markdown SKILL.md warned': ({ text }) =>
    assert.deepEqual(readFrontmatter(text).warnings, ['frontmatter_invalid']),
  // Messages that belong to the block above.
  'text refusal': () => {},
  'text warning': () => {},
  // Commands for people; the documents' own check reads them.
  sh: () => {},
}

/** Runs the hook as the agent program does, in a home with one new file. */
async function runsAsPreCheck(script: string): Promise<void> {
  using place = makeTestHome()
  const { home } = place
  for (const name of ['.roost', 'inbox']) mkdirSync(join(home, name))
  writeFileSync(join(home, 'inbox', 'mail.txt'), 'hello')
  const hook = join(home, '.roost', 'pre-check')
  writeFileSync(hook, script.replaceAll('/home/developer', home))
  chmodSync(hook, 0o755)
  const run = () =>
    runPreCheck({
      home,
      ownersFiles: ownersFilesOf(home),
      env: { PATH: process.env.PATH ?? '', HOME: home },
      identities,
      clock: systemClock,
      log: { warn: assert.fail },
    })
  const expected = { hook_present: true, exit_code: 0, stderr: '' }
  assert.deepEqual(await run(), { ...expected, stdout: 'New file: inbox/mail.txt\n' })
  assert.deepEqual(await run(), { ...expected, stdout: '' })
}

for (const block of blocks) {
  const kind = `${block.language} ${block.about}`.trim()
  test(`${block.page}:${block.line}: ${kind} is what the platform reads`, async () => {
    const read = readers[kind] ?? assert.fail(`no parser is known for "${kind}"`)
    await read(block)
  })
}

test('each kind of file has an example', () => {
  const shown = new Set(blocks.map(({ language, about }) => `${language} ${about}`.trim()))
  assert.deepEqual(
    Object.keys(readers).filter((kind) => !shown.has(kind)),
    [],
  )
})

const sorted = (names: Iterable<string>) => [...new Set(names)].toSorted()

test('template.md describes every field that the platform reads, and no other', () => {
  const metrics = fieldsOf(DeclaredMetric, 'metrics[]')
  assert.deepEqual(
    sorted(firstColumn(pageOf('template.md'), '## Reference: fields')),
    sorted([...fieldsOf(TemplateKeys), ...metrics]),
  )
})

test('skills.md describes every field of the front matter, and no other', () => {
  assert.deepEqual(
    sorted(firstColumn(pageOf('skills.md'), '## Write a skill')),
    sorted(fieldsOf(Frontmatter)),
  )
})

test('workspace-files.md describes every field of an entry of the operator queue, and no other', () => {
  assert.deepEqual(
    sorted(firstColumn(pageOf('workspace-files.md'), '## Operator queue')),
    sorted(fieldsOf(Entry)),
  )
})

test('environment.md lists every reserved name, and no other', () => {
  assert.deepEqual(
    sorted(firstColumn(pageOf('environment.md'), '## Reserved names')),
    sorted(suppressedVariables),
  )
})
