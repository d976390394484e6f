import { spawn } from 'node:child_process'
import { access, chmod, chown, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../machine/free-port.ts'
import { endProcess, hasProgram, run } from '../machine/run.ts'

/** A server for the duration of the tests, on loopback; `stop` also removes its files. */
export type Service = { url: string; stop(): Promise<void> }
export type RestartableService = Service & {
  /** `immediate` restarts as after a kill, with crash recovery. */
  restart(mode: 'fast' | 'immediate'): Promise<void>
}

/** Returns the program folder of the newest PostgreSQL server on this machine, or null. */
export async function findPostgres(): Promise<string | null> {
  const folder = '/usr/lib/postgresql'
  const versions = (await readdir(folder).catch(() => [])).sort((a, b) => Number(b) - Number(a))
  for (const version of versions) {
    const bin = join(folder, version, 'bin')
    const isComplete = await access(join(bin, 'initdb')).then(
      () => true,
      () => false,
    )
    if (isComplete) return bin
  }
  return null
}

export async function hasRedis(): Promise<boolean> {
  return hasProgram('redis-server')
}

export type PostgresOptions = {
  keepsCommits?: boolean
  isDurable?: boolean
  tls?: { cert: string; key: string }
}

/**
 * Starts a new cluster with the superuser `postgres` and no password; the URL names the database `postgres`.
 * By default nothing is synced to disk. With `keepsCommits` commits survive a crash of the server, but not of the
 * machine. With `isDurable` they survive both, which is PostgreSQL's default. With `tls` (PEM) the server refuses
 * connections without TLS.
 */
export async function startPostgres(
  bin: string,
  parent: string,
  { keepsCommits = false, isDurable = false, tls }: PostgresOptions = {},
): Promise<RestartableService> {
  const folder = await makeFolder(parent, 'postgres-')
  // PostgreSQL refuses to run as root; its package created a user for it.
  const isRoot = process.getuid?.() === 0
  const giveToServer = async (path: string) => {
    const id = async (flag: string) => Number((await run('id', [flag, 'postgres'])).stdout)
    if (isRoot) await chown(path, await id('-u'), await id('-g'))
  }
  await giveToServer(folder)
  const asPostgres = async (program: string, args: string[]) => {
    const command = [join(bin, program), ...args]
    // The output goes to a file, because the server would inherit a pipe and keep it open.
    const script = 'out=$1; shift; cd / && exec "$@" > "$out" 2>&1 < /dev/null'
    const shellCommand = ['sh', '-c', script, 'sh', join(folder, `${program}.out`), ...command]
    const [file = '', ...rest] = isRoot ? ['runuser', '-u', 'postgres', '--', ...shellCommand] : shellCommand
    const { code, lastLines } = await run(file, rest, { timeoutMs: 180_000 })
    if (code === 0) return
    const output = await run('cat', [join(folder, `${program}.out`)])
    throw new Error(`${program} failed:\n${[...lastLines, ...output.lastLines].join('\n')}`)
  }
  const data = join(folder, 'data')
  await asPostgres('initdb', [
    '-D',
    data,
    '-A',
    'trust',
    '-U',
    'postgres',
    '--no-sync',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
  ])
  const files = tls
    ? {
        'server.crt': tls.cert,
        'server.key': tls.key,
        'pg_hba.conf': 'hostssl all all 127.0.0.1/32 trust\n',
      }
    : {}
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(data, name), content, { mode: 0o600 })
    await giveToServer(join(data, name))
  }
  const port = await freePort()
  const settings = [
    `-p ${port} -k '' -c listen_addresses=127.0.0.1 -c max_connections=300${tls ? ' -c ssl=on' : ''}`,
    isDurable
      ? ''
      : `-c fsync=off -c full_page_writes=off -c synchronous_commit=${keepsCommits ? 'on' : 'off'}`,
  ]
  const start = ['-D', data, '-w', '-o', settings.join(' '), '-l', join(folder, 'postgres.log')]
  await asPostgres('pg_ctl', [...start, 'start'])
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    restart: (mode) => asPostgres('pg_ctl', [...start, '-m', mode, 'restart']),
    async stop() {
      await asPostgres('pg_ctl', ['-D', data, '-m', 'immediate', '-w', 'stop']).catch(() => {})
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export async function startRedis(parent: string): Promise<Service> {
  const folder = await makeFolder(parent, 'redis-')
  const port = await freePort()
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
  ]
  // A separate process group: Ctrl-C must not end it before the tests have stopped.
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  const isReady = new Promise<boolean>((resolve) => {
    let output = ''
    server.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (/ready to accept connections/i.test(output)) resolve(true)
    })
    server.on('error', () => resolve(false))
    server.on('exit', () => resolve(false))
  })
  const isUp = await Promise.race([isReady, wait(60_000, false, { ref: false })])
  const stop = async () => {
    await endProcess(server, 3_000)
    await rm(folder, { recursive: true, force: true })
  }
  if (!isUp) {
    await stop()
    throw new Error('redis-server did not start')
  }
  return { url: `redis://127.0.0.1:${port}`, stop }
}

async function makeFolder(parent: string, prefix: string): Promise<string> {
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, prefix))
  await chmod(folder, 0o755)
  return folder
}
