import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'

const root = resolve(import.meta.dirname, '../..')

test('it runs from any folder, through symbolic links, with spaces in its path and without node on the PATH', async (t) => {
  const { home, roost } = await checkout(t)
  await mkdir(join(home, '..', 'bin'))
  const link = join(home, '..', 'bin', 'my roost')
  await symlink('../a project/roost', link)
  assert.equal((await roost([], { script: link, cwd: '/' })).stdout, 'main: \n')
  assert.equal((await roost(['a b', 'c'], { cwd: home, script: './roost' })).stdout, 'main: a b|c\n')
})

test('dependencies are installed once, and again when package-lock.json changes', async (t) => {
  const { home, roost, installs } = await checkout(t)
  for (const _ of [1, 2, 3]) await roost([])
  assert.equal(await installs(), 1)
  await writeFile(join(home, 'package-lock.json'), '{"changed":true}')
  for (const _ of [1, 2]) await roost([])
  assert.equal(await installs(), 2)
})

test('an install by npm itself is fresh, and a lockfile with a new time only stays fresh', async (t) => {
  const { home, roost, installs } = await checkout(t)
  await roost([])
  await rm(join(home, 'node_modules/.roost-stamp'))
  await roost([])
  const later = new Date(Date.now() + 60_000)
  await utimes(join(home, 'package-lock.json'), later, later)
  await roost([])
  assert.equal(await installs(), 1)
})

test('three concurrent starts install once', async (t) => {
  const { roost, installs } = await checkout(t)
  const runs = await Promise.all([1, 2, 3].map(() => roost([])))
  for (const { stdout } of runs) assert.equal(stdout, 'main: \n')
  assert.equal(await installs(), 1)
})

test('a pinned npm is fetched once and installs when npm runs on another Node, which would leave native packages out', async (t) => {
  const { home, bin, roost, installs } = await checkout(t)
  const package_ = `node-linux-${process.arch}`
  const manifest = { type: 'module', optionalDependencies: { [package_]: '24.1.0' } }
  await writeFile(join(home, 'package.json'), JSON.stringify(manifest, null, 2))
  const fetched = join(home, '..', 'fetched')
  const old = `#!/bin/sh
case "$1" in
  version) echo "  node: '18.20.4'," ;;
  config) echo /etc/npmrc ;;
  install)
    echo "$*" >> '${fetched}'
    mkdir -p "$3/node_modules/.bin" && cp '${join(bin, 'npm')}' "$3/node_modules/.bin/npm" ;;
  ci) echo 'the old npm must not install' >&2; exit 1 ;;
esac
`
  await mkdir(join(bin, 'old'))
  await writeFile(join(bin, 'old/npm'), old, { mode: 0o755 })
  const PATH = `${join(bin, 'old')}:${bin}`
  const first = await roost([], { PATH })
  assert.match(first.stderr, /npm runs on Node 18 here/)
  assert.equal(first.stdout, `main: \n`)
  await writeFile(join(home, 'package-lock.json'), '{"changed":true}')
  await roost([], { PATH })
  assert.equal(await installs(), 2)
  const fetches = (await readFile(fetched, 'utf8')).trim().split('\n')
  assert.equal(fetches.length, 1)
  assert.match(fetches[0] ?? '', new RegExp(`${package_}@24.1.0 npm@\\d`))
})

test('without npm and without root, the error says what to do', async (t) => {
  const { home, bin, roost } = await checkout(t)
  await rm(join(bin, 'npm'))
  // No apt-get either, as on a distribution other than Debian.
  const error = await roost([]).then(
    () => assert.fail('it must fail'),
    (failure: { code: number; stderr: string }) => failure,
  )
  assert.equal(error.code, 1)
  assert.match(error.stderr, /npm is missing/)
  await assert.rejects(readFile(join(home, 'node_modules/.roost-stamp')))
})

test('its shell code is plain POSIX', () => {
  execFileSync('sh', ['-n', join(root, 'roost')])
  execFileSync('sh', ['-n', join(root, 'images/agent/entry.sh')])
})

/** Creates a project with the real script, a small main program, and an npm that links this Node and counts installs. */
async function checkout(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'roost-script-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const home = join(folder, 'a project')
  const bin = join(folder, 'tools')
  await mkdir(join(home, 'cli/src'), { recursive: true })
  await mkdir(bin)
  await copyFile(join(root, 'roost'), join(home, 'roost'))
  await writeFile(join(home, 'package.json'), '{"type":"module"}')
  await writeFile(join(home, 'package-lock.json'), '{}')
  await writeFile(join(home, 'cli/src/main.ts'), `console.log('main: ' + process.argv.slice(2).join('|'))`)
  const package_ = `node-linux-${process.arch}`
  const npm = `#!/bin/sh
[ "$1" = ci ] || exit 0
echo x >> '${folder}/installs'
mkdir -p node_modules/${package_}/bin
ln -sf '${process.execPath}' node_modules/${package_}/bin/node
echo '{}' > node_modules/.package-lock.json
`
  await writeFile(join(bin, 'npm'), npm)
  await chmod(join(bin, 'npm'), 0o755)
  // Only the tools that the script may use; node and apt-get are not among them.
  const tools = 'sh uname dirname readlink cat cksum cp id mkdir mv rm ln flock sed sleep tail'.split(' ')
  for (const tool of tools) {
    await symlink(
      execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim(),
      join(bin, tool),
    )
  }
  return {
    home,
    bin,
    roost: (args: string[], { script = join(home, 'roost'), cwd = folder, PATH = bin } = {}) =>
      promisify(execFile)(script, args, { cwd, env: { PATH } }),
    installs: async () => (await readFile(join(folder, 'installs'), 'utf8')).trim().split('\n').length,
  }
}
