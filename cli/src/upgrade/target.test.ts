import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openCheckout } from '../machine/checkout.ts'
import { run } from '../machine/run.ts'
import { findTarget } from './target.ts'

test('the object of a tag is verified, and not another ref of the same name', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-target-'))
  try {
    const [source, installed, key] = [join(folder, 'source'), join(folder, 'installed'), join(folder, 'key')]
    const shell = async (file: string, args: string[], cwd = folder) => {
      const { code, stdout, lastLines } = await run(file, args, { cwd, env: { PATH: process.env.PATH } })
      assert.equal(code, 0, lastLines.join('\n'))
      return stdout.trim()
    }
    const own = ['user.name=Ann', 'user.email=ann@example.org', 'gpg.format=ssh', `user.signingkey=${key}`]
    const git = (cwd: string, ...args: string[]) =>
      shell('git', [...own.flatMap((each) => ['-c', each]), ...args], cwd)
    const commit = async (version: string) => {
      await writeFile(join(source, 'package.json'), JSON.stringify({ version }))
      await git(source, 'add', '.')
      await git(source, 'commit', '-q', '-m', version)
    }
    await shell('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key])
    const signers = join(folder, 'signers')
    await writeFile(signers, `releases ${await readFile(`${key}.pub`, 'utf8')}`)
    await git(folder, 'init', '-q', source)
    await commit('0.1.0')
    await git(folder, 'clone', '-q', source, installed)
    await commit('0.2.0')
    await git(source, 'tag', '-s', '-m', 'signed', 'v0.2.0')
    const checkout = openCheckout(installed)
    assert.ok(checkout)
    const find = () => findTarget({ checkout, tag: '', isBranch: false, signers })
    const found = await find()
    assert.equal(found?.commit, await git(source, 'rev-parse', 'HEAD'))
    assert.equal(found?.from, await git(installed, 'rev-parse', 'HEAD'))

    // git prefers refs/NAME to refs/tags/NAME.
    await git(installed, 'update-ref', 'refs/v0.2.0', 'refs/tags/v0.2.0')
    await git(installed, 'tag', '-d', 'v0.2.0')
    await git(source, 'commit', '-q', '--allow-empty', '-m', 'foreign')
    await git(source, 'tag', '-f', '-a', '-m', 'unsigned', 'v0.2.0')
    await assert.rejects(find(), /v0\.2\.0 has no signature/)
  } finally {
    await rm(folder, { recursive: true })
  }
})
