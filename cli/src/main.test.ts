import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { commands } from './commands.ts'
import { examples } from './examples.ts'

const main = join(import.meta.dirname, 'main.ts')
const roost = (...args: string[]) => spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' })

test('2 for an invalid command line, with a sentence that names the invalid part', () => {
  const cases: [string[], RegExp][] = [
    [['nope'], /Unknown command "nope"/],
    [['up', '--nope'], /Unknown option --nope/],
    [['up', 'extra'], /Unexpected argument "extra"/],
    [['up', '--port', '0'], /--port must be a port from 1 to 65535, not "0"/],
    [['up', '--port'], /--port/],
    [['model'], /Missing option --port N/],
    [['model', '--port', 'x'], /--port must be a port/],
    [['test', 'no-such-file-anywhere'], /No test file matches no-such-file-anywhere/],
    [['test', 'checks/cluster'], /The tests in checks\/cluster run with --cluster/],
    [['test', '--cluster', 'cli'], /No test file in checks\/cluster matches cli/],
    [['test', '--cluster', '--quick'], /--cluster takes only paths and --name/],
    [['test', '--release', 'cli'], /--release takes no path and no other option/],
    [['doctor', '--fix'], /Unknown option --fix/],
    [['version', 'x'], /Unexpected argument "x"/],
    [['servers', 'use'], /Missing argument NAME/],
    [['fleet'], /Missing subcommand. Use one of: status, health/],
    [['fleet', '--json'], /Missing subcommand. Use one of: status, health/],
    [['help', 'nope'], /Unknown command "nope"/],
    [['backpu'], /Did you mean backup\?/],
    [['doctor', '--bundel'], /Unknown option --bundel\. Did you mean --bundle\?/],
    [['--color=blue', 'version'], /--color must be auto, always or never/],
  ]
  for (const [args, pattern] of cases) {
    const { status, stderr } = roost(...args)
    assert.equal(status, 2, args.join(' '))
    assert.match(stderr, pattern)
    assert.doesNotMatch(stderr, /at .*\.ts:\d/)
  }
})

test('help lists every command and explains each', () => {
  for (const args of [[], ['help'], ['--help'], ['-h']]) {
    const { status, stdout } = roost(...args)
    assert.equal(status, 0)
    for (const name of ['up', 'test', 'doctor', 'model', 'version'])
      assert.match(stdout, new RegExp(`roost ${name}`))
  }
  assert.match(roost('up', '--help').stdout, /--demo/)
  assert.match(roost('help', 'test').stdout, /--no-setup/)
})

test('the help of every command has examples, with options that it knows', () => {
  assert.deepEqual(Object.keys(examples).toSorted(), commands.map(({ name }) => name).toSorted())
  for (const { name, usage, optionNames = {} } of commands) {
    const known = [...usage, ...Object.values(optionNames).flat()].join('\n')
    assert.ok((examples[name] ?? []).length > 0, name)
    for (const example of examples[name] ?? []) {
      assert.match(example, new RegExp(`roost ${name}\\b`))
      for (const [option] of example.matchAll(/--[a-z-]+/g))
        assert.ok(known.includes(option), `${example}: ${option}`)
    }
  }
  assert.match(roost('help', 'cp').stdout, /\nExamples:\n {2}roost cp /)
})

test('a full disk behind standard output is reported; `up` continues without output', (t) => {
  const full = openSync('/dev/full', 'w')
  t.after(() => closeSync(full))
  const intoFullDisk = (args: string[], env = process.env) =>
    spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', env, stdio: ['ignore', full, 'pipe'] })
  const version = intoFullDisk(['version'])
  assert.equal(version.status, 1)
  assert.equal(
    version.stderr,
    'roost: The output is lost. Cannot write: the disk is full. Free some space, then run it again.\n',
  )
  const dataDir = mkdtempSync(join(tmpdir(), 'roost-full-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const invalid = { ROOST_DATA_DIR: dataDir, ROOST_CONTAINERS_URL: 'fake:', ROOST_LOG_LEVEL: 'loud' }
  const up = intoFullDisk(['up'], { ...process.env, ...invalid })
  assert.equal(up.status, 78)
  assert.match(up.stderr, /ROOST_LOG_LEVEL/)
})

test('version prints the version of the package', () => {
  assert.match(roost('version').stdout, /^Roost \d+\.\d+\.\d+ on Node 24\./)
  assert.equal(roost('--version').stdout, roost('version').stdout)
})

test('with --json an invalid command line is reported as an object', () => {
  const { status, stderr } = roost('agents', 'list', '--json', '--nope')
  assert.equal(status, 2)
  assert.equal(JSON.parse(stderr).error, 'usage')
  assert.match(JSON.parse(stderr).message, /Unknown option --nope/)
})

test('version and servers have --json', () => {
  assert.match(JSON.parse(roost('version', '--json').stdout).version, /^\d+\.\d+\.\d+$/)
  const nowhere = { ...process.env, HOME: '/nonexistent', XDG_CONFIG_HOME: '/nonexistent' }
  const { stdout } = spawnSync(process.execPath, [main, 'servers', '--json'], {
    encoding: 'utf8',
    env: nowhere,
  })
  assert.deepEqual(JSON.parse(stdout), [])
})

test('141 without an error message when the reader closes the pipe, as head does', async () => {
  const child = spawn(process.execPath, [main, 'help'], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  let errorOutput = ''
  child.stderr.on('data', (text) => {
    errorOutput += text
  })
  assert.deepEqual([await once(child, 'close'), errorOutput], [[141, null], ''])
})
