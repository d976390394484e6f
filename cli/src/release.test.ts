import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { repository } from './machine/repository.ts'
import { type RunOptions, run } from './machine/run.ts'
import {
  cleanCommit,
  sign,
  signatureNamespace,
  writeChart,
  writeSbom,
  writeSource,
  writeSums,
} from './release/contents.ts'
import { ReleaseError } from './release/error.ts'

let folder: string
let checkout: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-release-test-'))
  checkout = join(folder, 'checkout')
  await output('git', ['clone', '-q', '--no-hardlinks', repository.root, checkout])
})
after(() => rm(folder, { recursive: true, force: true }))

async function output(file: string, args: string[], options: RunOptions = {}): Promise<string> {
  const { code, stdout, lastLines } = await run(file, args, options)
  assert.equal(code, 0, lastLines.join('\n'))
  return stdout
}

test('the same commit gives the same bytes, with the commit in build.json', async () => {
  const commit = await cleanCommit(checkout)
  const sums: string[] = []
  for (const name of ['first', 'second']) {
    const to = join(folder, name)
    const files = [`${to}.tar.gz`, `${to}.cdx.json`, `${to}.tgz`]
    await writeSource(checkout, commit, { version: '1.2.3', to: files[0] ?? '' })
    await writeSbom(checkout, commit, files[1] ?? '')
    await writeChart(checkout, commit, files[2] ?? '')
    await writeSums(files, `${to}.sums`)
    sums.push((await readFile(`${to}.sums`, 'utf8')).replaceAll(name, 'release'))
    await output('sha256sum', ['-c', '--quiet', `${to}.sums`], { cwd: folder })
  }
  assert.equal(sums[0], sums[1])

  await output('tar', ['-xzf', join(folder, 'first.tar.gz'), '-C', folder])
  const unpacked = join(folder, 'roost-1.2.3')
  assert.deepEqual(JSON.parse(await readFile(join(unpacked, 'build.json'), 'utf8')), {
    version: '1.2.3',
    commit: (await output('git', ['rev-parse', 'HEAD'], { cwd: checkout })).trim(),
    subject: (await output('git', ['log', '-1', '--format=%s'], { cwd: checkout })).trim(),
    date: new Date(commit.epoch * 1000).toISOString(),
  })
  const tracked = await output('git', ['ls-tree', '-r', '--name-only', 'HEAD'], { cwd: checkout })
  const top = new Set(
    tracked
      .trim()
      .split('\n')
      .map((path) => path.split('/')[0] ?? ''),
  )
  assert.deepEqual((await readdir(unpacked)).sort(), [...top, 'build.json'].sort())

  const sbom = JSON.parse(await readFile(join(folder, 'first.cdx.json'), 'utf8'))
  assert.equal(sbom.bomFormat, 'CycloneDX')
  const names = sbom.components.map((component: { name: string }) => component.name)
  for (const name of ['fastify', 'kysely', 'react', 'zod']) assert.ok(names.includes(name), name)
  assert.ok(!names.includes('@biomejs/biome'), 'without tools for development')
})

test('a checkout with changes is refused, and the file is named', async () => {
  const file = join(checkout, 'new-file')
  await writeFile(file, '')
  await assert.rejects(
    cleanCommit(checkout),
    (error) => error instanceof ReleaseError && /new-file/.test(error.message),
  )
  await rm(file)
})

test('ssh-keygen accepts the signature, and refuses it for changed sums', async () => {
  await output('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', join(folder, 'key')])
  const publicKey = await readFile(join(folder, 'key.pub'), 'utf8')
  await writeFile(join(folder, 'signers'), `releases ${publicKey}`)
  const sums = join(folder, 'SHA256SUMS')
  await writeFile(sums, 'abc  file\n')
  await sign(sums, await readFile(join(folder, 'key'), 'utf8'))

  const verify = (text: string) => {
    const args = ['-Y', 'verify', '-f', join(folder, 'signers'), '-I', 'releases', '-n', signatureNamespace]
    const script = 'printf %s "$0" | ssh-keygen "$@"'
    return run('sh', ['-c', script, text, ...args, '-s', `${sums}.sig`])
  }
  assert.equal((await verify('abc  file\n')).code, 0)
  assert.notEqual((await verify('abd  file\n')).code, 0)
})

test('a key that cannot sign is refused by the name of its variable', async () => {
  const sums = join(folder, 'SHA256SUMS.other')
  await writeFile(sums, 'abc  file\n')
  await assert.rejects(
    sign(sums, 'not a key'),
    (error) => error instanceof ReleaseError && error.message.startsWith('ROOST_RELEASE_KEY: '),
  )
  await assert.rejects(readFile(`${sums}.sig`), { code: 'ENOENT' })
})
