import { Agent, request } from 'node:http'
import { startPlatform } from '../../checks/acceptance/platform.ts'
import { agentStore } from '../../server/src/agents/records/store.ts'
import { hashOfKey, newKeyText, visiblePrefix } from '../../server/src/identity/keys/key-text.ts'
import { keyStore } from '../../server/src/identity/keys/store.ts'
import { newId } from '../../server/src/kit/ids.ts'
import { openDatabase } from '../../server/src/ports/database/open.ts'
import type { Db } from '../../server/src/ports/database/port.ts'
import { silentLog } from '../../server/src/ports/log.ts'
import type { PlayedAgent } from './agents.ts'

/** One platform under test, with agents that have slots and no containers. */
export type Side = AsyncDisposable & {
  linkUrl: string
  agents: PlayedAgent[]
  /** The same database, for reading rows. */
  db: Db
  apiPid(): number
  /** Starts a round of tasks: later rows belong to it. */
  begin(): void
  readonly begun: string
  /** Posts an asynchronous task over a keep-alive connection; returns milliseconds. Throws unless it is accepted. */
  post(agent: string, message: string): Promise<number>
}

export type SideOptions = { databaseUrl?: string; agents: number; slots: number }

export async function openSide({ databaseUrl, agents: count, slots }: SideOptions): Promise<Side> {
  await using stack = new AsyncDisposableStack()
  const platform = stack.use(
    await startPlatform({
      env: {
        ROOST_CONTAINERS_URL: 'fake:',
        ROOST_LOG_LEVEL: 'info',
        ...(databaseUrl === undefined ? {} : { ROOST_DATABASE_URL: databaseUrl }),
      },
    }),
  )
  const db = await openDatabase(databaseUrl ?? `sqlite:${platform.dataDir}/roost.db`, silentLog)
  stack.defer(() => db.close())
  const agents: PlayedAgent[] = []
  for (let index = 0; index < count; index += 1) {
    const name = `queue-${String(index + 1).padStart(2, '0')}`
    const made = await platform.request('POST', '/api/agents', { name })
    if (made.status >= 300) throw new Error(made.text)
    const capacity = await platform.request('PUT', `/api/agents/${name}/capacity`, {
      max_parallel_tasks: slots,
    })
    if (capacity.status >= 300) throw new Error(capacity.text)
    agents.push({ name, key: await mintKey(db, name) })
  }
  const token = (await platform.request('POST', '/api/mcp/keys', { name: 'bench' })).json.key
  const http = new Agent({ keepAlive: true })
  stack.defer(() => http.destroy())
  const resources = stack.move()
  let begun = ''
  return {
    linkUrl: `ws://127.0.0.1:${platform.internalPort}/link`,
    agents,
    db,
    apiPid: platform.apiPid,
    begin() {
      begun = new Date().toISOString()
    },
    get begun() {
      return begun
    },
    post: (agent, message) => post(http, `${platform.url}/api/agents/${agent}/task`, token, message),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** Inserts another agent key, because the platform gives the original only to the container. */
export async function mintKey(db: Db, name: string): Promise<string> {
  const agent = await agentStore(db).byName(name)
  if (!agent) throw new Error(`The platform has no agent ${name} in this database.`)
  const key = newKeyText()
  await keyStore(db).insert({
    id: newId(),
    user_id: agent.owner_id,
    agent_id: agent.id,
    name,
    description: null,
    scope: 'agent',
    key_hash: hashOfKey(key),
    key_prefix: visiblePrefix(key),
    created_at: new Date().toISOString(),
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    usage_count: 0,
    default_of: null,
  })
  return key
}

export function post(agent: Agent, url: string, token: string, message: string): Promise<number> {
  const body = JSON.stringify({ message, async_mode: true })
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - started)
        else reject(new Error(`${response.statusCode}: ${text}`))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
