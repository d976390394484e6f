/**
 * Plants secrets in every place for secrets, and searches for them everywhere else: once with SQLite, once with
 * PostgreSQL and Redis.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { type GitServer, startGitServer } from '@roost/test-support/git/index'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import { openPostgres, openRedis } from '../../bench/chaos/services.ts'
import { credential, mailPassword, type Planting, plantEverywhere, runKeys } from './canary-planting.ts'
import { type BesideProcess, canaries, type Platform, startPlatform } from './platform.ts'
import { answerOf, docker } from './steps.ts'

const run = promisify(execFile)
const commandLines = watchCommandLines()
after(() => commandLines.end())

/** Where the platform stores data outside its folder. */
type Stores = {
  env: Record<string, string>
  /** Name → text of a copy of this store. */
  copies(): Promise<Record<string, string>>
  end(): Promise<void>
}

const ownDatabase = async (): Promise<Stores> => ({ env: {}, copies: async () => ({}), end: async () => {} })

async function servers(): Promise<Stores> {
  const [postgres, redis] = await Promise.all([openPostgres(), openRedis()])
  const monitor = spawn('redis-cli', ['-u', redis.url, 'monitor'], { stdio: ['ignore', 'pipe', 'inherit'] })
  let commands = ''
  monitor.stdout.setEncoding('utf8').on('data', (text: string) => {
    commands += text
  })
  await once(monitor.stdout, 'data')
  return {
    env: { ROOST_DATABASE_URL: postgres.url, ROOST_REDIS_URL: redis.url },
    async copies() {
      const dump = await run('pg_dump', ['--dbname', postgres.url], { maxBuffer: 256 * 1024 * 1024 })
      assert.match(dump.stdout, /COPY public\.mcp_keys /)
      assert.match(commands, /"set"/i)
      return { 'the dump of PostgreSQL': dump.stdout, 'all commands sent to Redis': commands }
    },
    async end() {
      monitor.kill()
      await redis[Symbol.asyncDispose]()
      await postgres.stop()
    },
  }
}

for (const [name, openStores] of [
  ['sqlite', ownDatabase],
  ['postgres', servers],
] as const) {
  describe(name, () => {
    const agent = `canary-${name}`
    let stores: Stores
    let mail: MailServer
    let git: GitServer
    let platform: Platform
    let beside: BesideProcess[]
    let planting: Planting
    // Unique keys, because other tests on this machine may use the usual ones.
    const providerKeys = {
      ANTHROPIC_API_KEY: `${canaries.anthropic}-${randomUUID()}`,
      GEMINI_API_KEY: `${canaries.google}-${randomUUID()}`,
      OPENAI_API_KEY: `${canaries.openai}-${randomUUID()}`,
    }

    before(async () => {
      mail = await startMailServer({ account: { user: 'roost@example.com', password: mailPassword } })
      git = await startGitServer()
      stores = await openStores()
      platform = await startPlatform({
        env: { ROOST_MAIL_URL: mail.url, ROOST_GIT_BASE_URL: git.url, ...providerKeys, ...stores.env },
      })
      beside = []
      for (const file of ['mcp/src/start.ts', 'server/src/start/scheduler.ts']) {
        beside.push(await platform.startBeside(file))
      }
      planting = await plantEverywhere(platform, { mail, git, agent, providerKeys })
    })
    after(async () => {
      await platform?.[Symbol.asyncDispose]()
      await stores?.end()
      await mail?.close()
      await git?.[Symbol.asyncDispose]()
    })

    /** The planted secrets that a text contains. */
    function found(text: string, except: readonly string[] = []): string[] {
      return [...planting.planted]
        .filter(([secretName]) => !except.includes(secretName))
        .filter(([, secret]) => isIn(text, secret) || isIn(text, encodeURIComponent(secret)))
        .map(([secretName]) => secretName)
    }

    test('enough secrets are planted for the search to be meaningful', () => {
      assert.ok(planting.planted.size >= 40, `${planting.planted.size}: ${[...planting.planted.keys()]}`)
      assert.deepEqual(found(`x ${mailPassword} y`), ['password of the mail server'])
      assert.ok(planting.answers.some(({ to, text }) => to === 'a socket' && /execution_finished/.test(text)))
    })

    test('not in any response or event but the one that creates the secret, errors and audit log included', () => {
      assert.deepEqual(
        planting.answers.flatMap(({ to, text }) =>
          found(text).map((each) => `${each} in what ${to} was answered: ${text.slice(0, 200)}`),
        ),
        [],
      )
    })

    test('not in any process log at the most verbose level', () => {
      assert.ok(platform.output().length > 1_000)
      for (const output of [platform.output(), ...beside.map((each) => each.output())]) {
        const lines = output.split('\n').filter((line) => found(line).length > 0)
        assert.deepEqual(
          lines.map((line) => `${found(line)}: ${line.slice(0, 300)}`),
          [],
        )
      }
    })

    test('not in any file of the data folder, including the raw database and its journal', async () => {
      const all = await readdir(platform.dataDir, { recursive: true, withFileTypes: true })
      let databases = 0
      for (const { parentPath, name: file } of all.filter((each) => each.isFile())) {
        const bytes = (await readFile(join(parentPath, file))).toString('latin1')
        if (bytes.startsWith('SQLite format 3')) databases += 1
        assert.deepEqual(found(bytes), [], file)
      }
      assert.equal(databases, name === 'sqlite' ? 1 : 0)
    })

    test('not in the support bundle, which has no conversation either', async () => {
      const said = `canary-conversation-${randomUUID()}`
      await answerOf(platform, agent, `${said} [[reply:${said}]]`)
      const folder = await mkdtemp(join(tmpdir(), 'roost-canary-bundle-'))
      const logs = join(platform.dataDir, 'logs')
      try {
        // As `roost up` does with the output of its processes.
        await mkdir(logs)
        await writeFile(join(logs, 'api.log'), platform.output())
        const to = join(folder, 'bundle.tar.gz')
        const doctor = ['cli/src/main.ts', 'doctor', '--data-dir', platform.dataDir, '--bundle', to]
        const root = join(import.meta.dirname, '../..')
        await run(process.execPath, doctor, { cwd: root, env: platform.env }).catch((error) => {
          // 1 means that a check of this machine failed, and the bundle says which.
          if (error.code !== 1) throw error
        })
        const text = gunzipSync(await readFile(to)).toString('latin1')
        assert.deepEqual(found(text), [])
        assert.ok(!text.includes(said))
        // It has what it should have.
        assert.match(text, new RegExp(`"name": "${agent}"`))
        assert.match(text, /roost_queue_length \d/)
        assert.match(text, /"status": "ready"/)
        assert.doesNotMatch(text, /This could not be read/)
        assert.ok((await stat(to)).mode % 0o1000 === 0o600)
      } finally {
        await rm(folder, { recursive: true, force: true })
        await rm(logs, { recursive: true, force: true })
      }
    })

    async function searchCopies() {
      for (const [what, text] of Object.entries(await stores.copies())) {
        const lines = text.split('\n').filter((line) => found(line).length > 0)
        assert.deepEqual(
          lines.map((line) => `${found(line)}: ${line.slice(0, 300)}`),
          [],
          what,
        )
      }
    }
    if (name === 'postgres') test('not in any copy of external stores', searchCopies)

    test('not on any command line of the machine, at any time', () => {
      assert.ok(commandLines.seen().some((line) => line.includes('server/src/start/api.ts')))
      assert.ok(commandLines.seen().some((line) => line.includes('server/src/start/scheduler.ts')))
      for (const line of commandLines.seen()) assert.deepEqual(found(line), [], line.slice(0, 200))
    })

    test('only in the environments of processes that were started with it', async () => {
      const besidePids = beside.map(({ pid }) => pid)
      const ownEnvironment = Object.values(platform.env).join('\n')
      // The scheduler opens the database; it needs no other secret of the configuration.
      const storesEnvironment = Object.values(stores.env).join('\n')
      const pids = (await readdir('/proc')).filter((each) => /^\d+$/.test(each))
      const environments = await Promise.all(
        pids.map(
          async (pid) => [pid, await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')] as const,
        ),
      )
      for (const [pid, environment] of environments) {
        // The agent's own programs have its key; its container is checked from inside below.
        const isAgents = environment.includes(`AGENT_NAME=${agent}\0`)
        const except =
          Number(pid) === platform.apiPid()
            ? found(ownEnvironment)
            : besidePids.includes(Number(pid))
              ? found(storesEnvironment)
              : isAgents
                ? ['key of the agent', credential, ...runKeys]
                : []
        assert.deepEqual(found(environment, except), [], `${pid}: ${environment.slice(0, 100)}`)
      }
    })

    test('not in the container, on the volumes or in the processes of a fork without credentials', async () => {
      const fork = { name: `${agent}-fork` }
      const made = await platform.request('POST', `/api/agents/${agent}/fork`, fork)
      assert.equal(made.status, 200, made.text)
      assert.deepEqual(found(made.text), [])
      const container = `agent-${fork.name}`
      assert.deepEqual(found(await docker('inspect', container)), [])
      // The engine reads everything.
      for (const folder of ['/home/developer', '/var/lib/roost']) {
        const archive = await docker('cp', `${container}:${folder}`, '-')
        assert.ok(archive.includes('ustar'), archive.slice(0, 200))
        assert.deepEqual(found(archive), [], folder)
      }
      const processes = 'cat /proc/[0-9]*/environ 2>/dev/null; true'
      const text = await docker('exec', '-u', 'root', container, 'sh', '-c', processes)
      assert.ok(text.includes(`AGENT_NAME=${fork.name}`))
      assert.deepEqual(found(text), [])
    })

    test('the description of the agent’s container contains only its key', async () => {
      const described = await docker('inspect', `agent-${agent}`)
      assert.ok(described.includes('ROOST_AGENT_KEY'))
      assert.deepEqual(found(described), ['key of the agent'])
    })

    test("the container's processes contain only its key, and its credentials and keys in its runs", async () => {
      const script = 'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n"'
      const processData = await docker('exec', '-u', 'root', `agent-${agent}`, 'sh', '-c', script)
      assert.deepEqual(found(processData, ['key of the agent', credential, ...runKeys]), [])
    })
  })
}

/** A six-digit code counts only as a separate word, because long numbers contain it by chance. */
function isIn(text: string, secret: string): boolean {
  return /^\d{6}$/.test(secret)
    ? new RegExp(`(?<![\\w.-])${secret}(?![\\w.-])`).test(text)
    : text.includes(secret)
}

/** Records the command line of every process that lives for at least a tenth of a second. */
function watchCommandLines() {
  const lines = new Set<string>()
  let isOver = false
  const readAll = async () => {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    for (const pid of pids) lines.add(await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''))
  }
  // Sequential reads, because concurrent ones would pile up on a busy machine.
  const watching = (async () => {
    for (; !isOver; await pause(100)) await readAll()
  })()
  return {
    seen: () => [...lines],
    async end() {
      isOver = true
      await watching
    },
  }
}
