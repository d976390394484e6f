/**
 * The steps of docs/operate/several-machines.md, with the files and commands of the page: two machines with a checkout
 * each, PostgreSQL and Redis on a third one, and the proxy on a fourth. The machines are namespaces of this one.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { findPostgres } from '../../cli/src/testing/services.ts'
import { type Block, blocksOf, sectionOf } from '../agent-pages.ts'
import { canMakeMachines, type Machine, type Machines, type Running, startSwitch } from './machines.ts'
import { eventually, type Loose } from './platform.ts'
import { missingForReplicas } from './replicas.ts'
import { adapted, nginxForSeveral, nginxProgram } from './reverse-proxies.ts'

const repository = resolve(import.meta.dirname, '../..')
const page = await readFile(join(repository, 'docs/operate/several-machines.md'), 'utf8')
const skip = missingForReplicas || (!canMakeMachines && 'needs root, for network namespaces')

/** The shell blocks of a section, in order. */
function stepsOf(heading: string): string[] {
  const isShell = ({ language }: Block) => language === 'sh'
  return blocksOf('', sectionOf(page, heading))
    .filter(isShell)
    .map(({ text }) => text)
}

describe('one installation on several machines, by the steps of the guide', { skip }, () => {
  const password = 'a long enough passphrase 1!'
  let folder = ''
  let network: Machines
  let [proxy, first, second] = [] as unknown as [Machine, Machine, Machine]
  let [firstUp, secondUp] = [] as unknown as [Running, Running]
  let postgres: Running
  let token = ''

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roost-machines-'))
    network = await startSwitch()
    postgres = await startStores(await network.add('stores', '10.0.0.5'), folder)
    proxy = await network.add('proxy', '10.0.0.10')
    first = await network.add('first', '10.0.0.11')
    second = await network.add('second', '10.0.0.12')
    await startProxy(proxy, folder)
  })
  after(async () => {
    await Promise.all([firstUp?.end(), secondUp?.end()])
    // Immediate shutdown, which leaves no shared memory.
    await postgres?.end('SIGQUIT')
    await network?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  /** A request of a person at the public address. */
  async function request(
    method: string,
    path: string,
    body?: object | URLSearchParams,
  ): Promise<{ status: number; json: Loose }> {
    const { text } = await proxy.run('curl', [
      ...['-sk', '--resolve', 'roost.example.com:443:10.0.0.10', '-X', method, '-w', '\n%{http_code}'],
      ...(token ? ['-H', `Authorization: Bearer ${token}`] : []),
      ...(body instanceof URLSearchParams ? ['-d', body.toString()] : []),
      ...(body && !(body instanceof URLSearchParams)
        ? ['-H', 'Content-Type: application/json', '-d', JSON.stringify(body)]
        : []),
      `https://roost.example.com${path}`,
    ])
    const [reply = '', status] = [
      text.slice(0, text.lastIndexOf('\n')),
      text.slice(text.lastIndexOf('\n') + 1),
    ]
    return {
      status: Number(status),
      json: reply.startsWith('{') || reply.startsWith('[') ? JSON.parse(reply) : reply,
    }
  }

  const shell = (machine: Machine, checkout: string, commands: string, env: NodeJS.ProcessEnv = {}) =>
    machine.run('sh', ['-euc', commands], {
      cwd: join(folder, checkout),
      env: { ...environment(folder), ...env },
    })

  const start = (machine: Machine, checkout: string, commands: string) =>
    machine.start('sh', ['-euc', `exec ${commands}`], {
      cwd: join(folder, checkout),
      env: environment(folder),
    })

  test('the first machine starts with the settings of the page', async () => {
    // The second block is the firewall, which these machines do not have.
    const [settings = '', , up = ''] = stepsOf('## The first machine')
    const checkout = await checkOut(folder, 'first')
    await writeFile(join(checkout, '.env'), settings)
    firstUp = start(first, 'first', up)
    await firstUp.until(/Ctrl-C stops/)
    await request('POST', '/api/setup/admin-password', { password })
    const signedIn = await request('POST', '/api/token', new URLSearchParams({ username: 'admin', password }))
    assert.equal(signedIn.status, 200, JSON.stringify(signedIn.json))
    token = signedIn.json.access_token
  })

  test('78 on a machine without the key and the id, and the message names the files', async () => {
    await checkOut(folder, 'unprepared')
    await cp(join(folder, 'first/.env'), join(folder, 'unprepared/.env'))
    const { code, text } = await shell(second, 'unprepared', './roost up', {
      ROOST_HOST: '10.0.0.12',
      ROOST_INTERNAL_HOST: '10.0.0.12',
    })
    assert.equal(code, 78, text)
    assert.match(text, /encryption\.key[\s\S]*install-id/)
  })

  test('another machine starts after its three steps, and both show it', async () => {
    const [copy = '', settings = '', up = ''] = stepsOf('## Every other machine')
    await checkOut(folder, 'second')
    for (const step of [copy, settings]) {
      // Without a server for SSH: the same program copies from a folder of this machine.
      const { code, text } = await shell(
        second,
        'second',
        adapted(step, { 'first:roost': join(folder, 'first') }),
      )
      assert.equal(code, 0, text)
    }
    secondUp = start(second, 'second', up)
    await secondUp.until(/Ctrl-C stops/)

    const [checks = ''] = stepsOf('## Check it')
    const [doctor = '', health = '', list = ''] = checks.trim().split('\n')
    for (const [machine, checkout] of [
      [first, 'first'],
      [second, 'second'],
    ] as const) {
      const { text } = await shell(machine, checkout, doctor)
      assert.match(text, /the encryption key and the id are those of the database/)
    }
    for (const address of ['10.0.0.11', '10.0.0.12']) {
      const { text } = await shell(proxy, 'first', health.replace('10.0.0.12', address))
      assert.equal(JSON.parse(text).status, 'ready', text)
    }
    const { key } = (await request('POST', '/api/mcp/keys', { name: 'machines' })).json
    const signedIn = { ROOST_URL: 'http://10.0.0.12:8000', ROOST_KEY: key }
    const { text: replicas } = await eventually(
      () => shell(second, 'second', `./${list}`, signedIn),
      ({ text }) => (text.match(/ live /g) ?? []).length === 6,
      60_000,
    )
    for (const machine of ['first', 'second'])
      for (const role of ['api', 'mcp', 'scheduler'])
        assert.match(replicas, new RegExp(`^${role} +${machine} `, 'm'), replicas)
  })

  test('a change on one machine is seen on the other, and a person stays signed in when one stops', async () => {
    const path = '/api/users/me/preferences/machines'
    assert.equal((await request('PUT', path, { value: 'first' })).status, 200)
    for (let round = 0; round < 4; round += 1) assert.equal((await request('GET', path)).json.value, 'first')
    const stopped = firstUp.end()
    // While it stops and afterwards.
    for (let round = 0; round < 6; round += 1) {
      const reply = await request('PUT', path, { value: round })
      assert.equal(reply.status, 200, JSON.stringify(reply.json))
    }
    assert.equal((await stopped).code, 0)
    for (let round = 0; round < 4; round += 1) assert.equal((await request('GET', path)).json.value, 5)
    const { replicas } = (await request('GET', '/api/ops/replicas')).json
    assert.deepEqual(
      replicas.map(({ role, host_name, state }: Loose) => `${role} ${host_name} ${state}`).sort(),
      ['api second live', 'mcp second live', 'scheduler second live'],
    )
  })
})

/** The agents have no containers here: the page is about the machines. */
function environment(home: string): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: home, ROOST_CONTAINERS_URL: 'fake:' }
}

/** A clone of the last commit, installed and built like this one. */
async function checkOut(folder: string, name: string): Promise<string> {
  const checkout = join(folder, name)
  execFileSync('git', ['clone', '-q', repository, checkout])
  await symlink(join(repository, 'node_modules'), join(checkout, 'node_modules'))
  await cp(join(repository, 'web/dist'), join(checkout, 'web/dist'), { recursive: true })
  return checkout
}

/** PostgreSQL and Redis at their usual ports, with the password of the page. */
async function startStores(machine: Machine, folder: string): Promise<Running> {
  const bin = (await findPostgres()) ?? assert.fail('PostgreSQL is not installed')
  const data = join(folder, 'postgres')
  await mkdir(data)
  await writeFile(join(folder, 'password'), 'PASSWORD')
  const done = async (file: string, ...args: string[]) => {
    const { code, text } = await machine.run(file, args, {
      cwd: '/',
      env: { PATH: process.env.PATH, PGPASSWORD: 'PASSWORD' },
    })
    assert.equal(code, 0, text)
  }
  const asPostgres = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] as const
  await done('chmod', '755', folder)
  await done('chown', 'postgres', data)
  await done(
    ...asPostgres,
    ...[join(bin, 'initdb'), '-D', data, '-U', 'roost', '--no-sync', '-E', 'UTF8', '--locale=C.UTF-8'],
    ...['-A', 'scram-sha-256', `--pwfile=${join(folder, 'password')}`],
  )
  await writeFile(join(data, 'pg_hba.conf'), 'host all all 10.0.0.0/24 scram-sha-256\n')
  const [file, ...args] = [...asPostgres, join(bin, 'postgres'), '-D', data, '-k', '', '-h', '10.0.0.5', '-F']
  const postgres = machine.start(file, args, { cwd: '/' })
  await postgres.until(/ready to accept connections/)
  await done(join(bin, 'createdb'), '-h', '10.0.0.5', '-U', 'roost', 'roost')
  const redis = ['--bind', '10.0.0.5', '--requirepass', 'PASSWORD', '--save', '', '--dir', folder]
  await machine.start('redis-server', redis).until(/Ready to accept connections/)
  return postgres
}

/** nginx with the configuration for several API processes, and a certificate that nobody signed. */
async function startProxy(machine: Machine, folder: string): Promise<void> {
  const certificate = ['-keyout', join(folder, 'privkey.pem'), '-out', join(folder, 'fullchain.pem')]
  const request = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-noenc',
    '-subj',
    '/CN=roost.example.com',
    '-days',
    '2',
  ]
  execFileSync('openssl', [...request, ...certificate], { stdio: 'pipe' })
  const site = adapted(nginxForSeveral(['10.0.0.11:8000', '10.0.0.12:8000']), {
    '/etc/letsencrypt/live/roost.example.com': folder,
  })
  const [file, args] = nginxProgram(folder, site)
  machine.start(file, args)
}
