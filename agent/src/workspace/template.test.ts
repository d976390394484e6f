import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { createIdentities, readIdentityFacts } from '../processes/identity.ts'
import { startTestAgent } from '../test/agent.ts'
import { makeTestHome } from '../test/home.ts'
import { aRun, startTestPlatform, type TestPlatform } from '../test/platform.ts'
import { unpackTemplate } from './template.ts'

type Files = Record<string, string | { script: string } | { link: string }>

/** Makes an archive of these files in the form that the platform sends. */
function templateOf(files: Files, ...options: string[]): NonNullable<TestPlatform['template']> {
  using place = makeTestHome()
  for (const [path, content] of Object.entries(files)) {
    const target = join(place.home, path)
    mkdirSync(dirname(target), { recursive: true })
    if (typeof content === 'string') writeFileSync(target, content)
    else if ('link' in content) symlinkSync(content.link, target)
    else writeFileSync(target, content.script, { mode: 0o755 })
  }
  const args = ['--create', '--format=gnu', '--mtime=@0', `--directory=${place.home}`, ...options]
  const names = options.length > 0 ? [] : readdirSync(place.home)
  const maxBuffer = 64 * 1024 * 1024
  return { version: randomUUID(), archive: execFileSync('tar', [...args, '--', ...names], { maxBuffer }) }
}

async function setUp(template: TestPlatform['template']) {
  const platform = await startTestPlatform()
  const place = makeTestHome()
  platform.template = template
  const asked: { offset: number; version: string | null }[] = []
  const it = {
    platform,
    place,
    asked,
    start: () => startTestAgent({ platform, place }),
    home: (path: string) => join(place.home, path),
    async [Symbol.asyncDispose]() {
      await platform.close()
      place[Symbol.dispose]()
    },
  }
  platform.intercept = (message) => {
    if (message.t === 'template') asked.push(message as never)
    return undefined
  }
  return it
}

async function answerOf(platform: TestPlatform, message: string): Promise<string> {
  const run = aRun({ message })
  platform.enqueue(run)
  return (await platform.result(run.execution_id)).response?.replace('tool-result: ', '') ?? ''
}

test('files, modes and links of the template are in the workspace before the first turn', async () => {
  const long = `${'deep/'.repeat(30)}${'n'.repeat(120)}`
  await using it = await setUp(
    templateOf({
      'CLAUDE.md': 'from the template',
      '.roost/pre-check': { script: '#!/bin/sh\n' },
      'docs/readme': { link: '../CLAUDE.md' },
      'name "with" spaces\nünd a line': 'x',
      [long]: 'far down',
      'shared-in/other/file': 'not this one',
      'docs/shared-in/file': 'this one',
    }),
  )
  // Images have had this folder.
  mkdirSync(join(it.place.root, 'template'))
  const before = Date.now() - 1000
  await using _ = await it.start()
  const listing = await answerOf(it.platform, '[[tool:Bash:cat CLAUDE.md; ls -A]]')
  for (const name of ['from the template', 'docs', 'uploads', 'content', '.tmp', '.roost-initialized'])
    assert.ok(listing.includes(name), `${name} in ${listing}`)
  assert.ok(!existsSync(it.home('shared-in')), 'shared-in is reserved for folders of other agents')
  assert.equal(readFileSync(it.home('docs/shared-in/file'), 'utf8'), 'this one')
  assert.equal(readFileSync(it.home(long), 'utf8'), 'far down')
  assert.equal(readFileSync(it.home('name "with" spaces\nünd a line'), 'utf8'), 'x')
  assert.equal(readlinkSync(it.home('docs/readme')), '../CLAUDE.md')
  assert.equal(statSync(it.home('.roost/pre-check')).mode & 0o777, 0o755)
  const { uid, mtimeMs } = statSync(it.home('CLAUDE.md'))
  assert.deepEqual([uid, mtimeMs > before], [statSync(it.place.home).uid, true])
  assert.ok(!existsSync(join(it.place.root, 'volume/program/template.tar')), 'the archive is deleted')
})

test('a cut link continues where it was, and the workspace has nothing of an incomplete template', async () => {
  const large = 'line of a large file\n'.repeat(100_000)
  await using it = await setUp(templateOf({ 'large.txt': large, 'z.txt': 'last' }))
  const seen = it.platform.intercept
  it.platform.intercept = (message) => {
    seen(message)
    if (message.t !== 'template' || it.asked.length % 3 !== 2) return undefined
    assert.equal(existsSync(it.home('large.txt')), false)
    // The platform has read the chunk, and its answer is lost.
    queueMicrotask(() => it.platform.breakLink())
    return 'lose'
  }
  await using _ = await it.start()
  assert.equal(await answerOf(it.platform, '[[tool:Bash:cat z.txt]]'), 'last')
  assert.equal(readFileSync(it.home('large.txt'), 'utf8'), large)
  assert.ok(it.platform.hellos.length > 1)
  const offsets = it.asked.map(({ offset }) => offset)
  assert.deepEqual(
    offsets,
    offsets.toSorted((a, b) => a - b),
    'no chunk is read again after a later one',
  )
  assert.deepEqual(new Set(it.asked.slice(2).map(({ version }) => version)).size, 1)
})

test('a template that changes during its delivery is received from the beginning', async () => {
  await using it = await setUp(templateOf({ 'a.txt': 'old '.repeat(100_000), 'old.txt': 'old' }))
  const next = templateOf({ 'a.txt': 'new' })
  const seen = it.platform.intercept
  it.platform.intercept = (message) => {
    seen(message)
    if (it.asked.length === 2) it.platform.template = next
    return undefined
  }
  await using _ = await it.start()
  assert.equal(await answerOf(it.platform, '[[tool:Bash:cat a.txt]]'), 'new')
  assert.equal(existsSync(it.home('old.txt')), false)
})

test('a template is never delivered again, even if the marker in the workspace was deleted', async () => {
  await using it = await setUp(templateOf({ 'CLAUDE.md': 'from the template' }))
  {
    await using _ = await it.start()
    assert.equal(await answerOf(it.platform, '[[tool:Bash:cat CLAUDE.md]]'), 'from the template')
  }
  writeFileSync(it.home('CLAUDE.md'), 'changed since')
  rmSync(it.home('.roost-initialized'))
  it.asked.length = 0
  await using _ = await it.start()
  assert.equal(await answerOf(it.platform, '[[tool:Bash:cat CLAUDE.md]]'), 'changed since')
  assert.deepEqual(it.asked, [])
})

test('a workspace from before this release is not asked for, and is marked on the own volume', async () => {
  await using it = await setUp(templateOf({ 'CLAUDE.md': 'from the template' }))
  writeFileSync(it.home('.roost-initialized'), '')
  await using _ = await it.start()
  await answerOf(it.platform, '[[reply:hello]]')
  assert.deepEqual([it.asked, existsSync(it.home('CLAUDE.md'))], [[], false])
  assert.ok(existsSync(join(it.place.root, 'volume/program/workspace-initialized')))
})

for (const [title, options] of Object.entries({
  'a parent folder': ['--transform=s,^x$,../escaped,', 'x'],
  'an absolute path': ['--transform=s,^x$,OUTSIDE/escaped,', 'x'],
  'a link of the archive': ['--transform=s,^x$,a/escaped,', 'a', 'x'],
})) {
  test(`an archive that leads out of the workspace over ${title} changes nothing outside`, async () => {
    using outside = makeTestHome()
    using place = makeTestHome()
    const inPlace = options.map((option) => option.replace('OUTSIDE', outside.home))
    const { archive } = templateOf({ a: { link: outside.home }, x: 'evil' }, '-P', ...inPlace)
    assert.ok(archive.includes('escaped'))
    const file = join(place.root, 'template.tar')
    writeFileSync(file, archive)
    const identities = createIdentities(readIdentityFacts(statSync(place.home)))
    // It may be refused as a whole, or unpacked inside.
    await unpackTemplate(file, place.home, identities).catch((error: Error) =>
      assert.match(error.message, /\S/),
    )
    const found = [outside.home, outside.root, place.root].filter((at) => existsSync(join(at, 'escaped')))
    assert.deepEqual(found, [])
  })
}

test('a file saved immediately after the start waits for the template and is kept', async () => {
  const files = Array.from({ length: 200 }, (_, index) => [`${index}.txt`, 'of the template'])
  await using it = await setUp(templateOf(Object.fromEntries(files)))
  await using _ = await it.start()
  await it.platform.until(() => it.platform.hellos.length > 0, 'the link')
  await it.platform.call('fs.write', {
    path: it.home('199.txt'),
    upload_id: 'u',
    offset: 0,
    data_base64: Buffer.from('of a person').toString('base64'),
    last: true,
    on_conflict: 'replace',
  })
  assert.equal(readFileSync(it.home('199.txt'), 'utf8'), 'of a person')
  assert.equal(lstatSync(it.home('.roost-initialized')).isFile(), true)
})
