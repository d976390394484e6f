/** Runs an agent's program without a container. The fake engine starts none, and calls to an absent agent wait. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { hashOfKey, newKeyText } from '../../../server/src/identity/keys/key-text.ts'
import { openDatabase } from '../../../server/src/ports/database/open.ts'
import { silentLog } from '../../../server/src/ports/log.ts'
import type { Platform } from '../../acceptance/platform.ts'

const program = resolve(import.meta.dirname, '../../../agent/src/start.ts')
/** The command of the container's entry point. */
const asDeveloper = [
  '/usr/bin/setpriv',
  '--reuid=1000',
  '--regid=1000',
  '--clear-groups',
  '--inh-caps=+setuid,+setgid',
  '--ambient-caps=+setuid,+setgid',
]

export type AttachedAgent = AsyncDisposable & { key: string; readonly isRunning: boolean }

/** Runs the program of an agent in a temporary workspace until it is disposed. */
export async function attachAgent(platform: Platform, name: string): Promise<AttachedAgent> {
  const key = await plantKey(platform, name)
  const root = await mkdtemp('/tmp/roost-fuzz-')
  const [home, scratch, volume] = [join(root, 'home'), join(root, 'scratch'), join(root, 'volume')]
  const isRoot = process.getuid?.() === 0
  await chmod(root, 0o755)
  for (const folder of [home, scratch, volume]) {
    await mkdir(folder)
    if (isRoot) await chown(folder, 1000, 1000)
  }
  // As `/tmp`.
  await chmod(scratch, 0o1777)
  const [command = '', ...args] = [...(isRoot ? asDeveloper : []), process.execPath, program]
  const child: ChildProcess = spawn(command, args, {
    stdio: 'ignore',
    env: {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      LANG: 'C.UTF-8',
      AGENT_NAME: name,
      ROOST_LINK_URL: `ws://127.0.0.1:${platform.internalPort}/link`,
      ROOST_AGENT_KEY: key,
      ROOST_HOME: home,
      ROOST_SCRATCH: scratch,
      ROOST_VOLUME: volume,
      ROOST_TEMPLATE: join(root, 'template'),
      TMPDIR: scratch,
    },
  })
  const isRunning = () => child.exitCode === null && child.signalCode === null
  // A call that needs the agent waits until it has dialled in.
  await platform.request('GET', `/api/agents/${name}/files`)
  return {
    key,
    get isRunning() {
      return isRunning()
    },
    async [Symbol.asyncDispose]() {
      if (isRunning()) {
        const ended = once(child, 'exit')
        child.kill('SIGKILL')
        await ended
      }
      await rm(root, { recursive: true, force: true })
    },
  }
}

/** Replaces the agent's key in the database: the platform gives the original to the container alone. */
async function plantKey({ dataDir, request }: Platform, name: string): Promise<string> {
  const db = await openDatabase(`sqlite:${join(dataDir, 'roost.db')}`, silentLog)
  try {
    const { json: key } = await request('GET', `/api/agents/${name}/mcp-key`)
    const text = newKeyText()
    await db
      .withTables<{ mcp_keys: { id: string; key_hash: string } }>()
      .updateTable('mcp_keys')
      .set({ key_hash: hashOfKey(text) })
      .where('id', '=', key.key_id)
      .execute()
    return text
  } finally {
    await db.close()
  }
}
