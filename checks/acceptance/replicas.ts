/**
 * One installation with several API processes, each with an MCP server of its own, on PostgreSQL and Redis. nginx sends
 * each request to the next one, with the configuration of docs/operate/reverse-proxy.md.
 */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { findPostgres, startPostgres, startRedis } from '../../cli/src/testing/services.ts'
import { type BesideProcess, eventually, freePorts, type Platform, startPlatform } from './platform.ts'
import {
  adapted,
  caddyForSeveral,
  hasProgram,
  nginxForSeveral,
  type ReverseProxy,
  startCaddy,
  startNginx,
} from './reverse-proxies.ts'

/** An API process and its MCP server. */
export type Replica = {
  /** Addresses without the proxy. */
  url: string
  mcpUrl: string
  pids(): number[]
  /** Kills both processes. */
  kill(): Promise<void>
  /** Starts both again, at the same addresses. */
  start(): Promise<void>
}

export type Replicas = {
  /** Its requests, streams and agents use the proxy; its methods for one API process concern the first one. */
  platform: Platform
  replicas: Replica[]
  /** The platform through another proxy, which ends a connection after such a silence. */
  throughIdleLimit(seconds: number): Promise<Platform>
  /** The platform through Caddy instead of nginx, also with the configuration of the page. */
  throughCaddy(): Promise<Platform>
  databaseUrl: string
  redisUrl: string
  /** The processes of Roost, with the schedulers. */
  pids(): number[]
  [Symbol.asyncDispose](): Promise<void>
}

export type ReplicasOptions = {
  count: number
  schedulers?: number
  env?: Record<string, string>
}

/** Why the tests cannot run here; false if they can. */
export const missingForReplicas: string | false =
  !hasProgram('nginx') || !hasProgram('redis-server') || !hasPostgres()
    ? 'nginx, PostgreSQL or Redis is not installed'
    : false

function hasPostgres(): boolean {
  return spawnSync('sh', ['-c', 'ls /usr/lib/postgresql/*/bin/initdb']).status === 0
}

export async function startReplicas(options: ReplicasOptions): Promise<Replicas> {
  const { count, schedulers = 0 } = options
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'roost-replicas-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const bin = await findPostgres()
  if (!bin) throw new Error('PostgreSQL is not installed on this machine.')
  const postgres = await startPostgres(bin, tmpdir())
  stack.defer(() => postgres.stop())
  const redis = await startRedis(tmpdir())
  stack.defer(() => redis.stop())
  const databaseUrl = await createDatabase(postgres.url, `roost_${count}`)
  const [proxyPort = 0, ...ports] = await freePorts(2 * count + 1)
  const proxyUrl = `http://127.0.0.1:${proxyPort}`
  const env = {
    ROOST_DATABASE_URL: databaseUrl,
    ROOST_REDIS_URL: redis.url,
    ROOST_BASE_URL: proxyUrl,
    ROOST_TRUSTED_PROXIES: '127.0.0.1',
    // Agents reach any of them.
    ROOST_INTERNAL_PORT_SHARED: 'true',
    ...options.env,
  }
  const first = await startPlatform({ env })
  stack.use(first)

  const proxies = stack.use(new AsyncDisposableStack())
  const replicas: Replica[] = []
  for (let index = 0; index < count; index += 1) {
    const own = {
      ROOST_PORT: index === 0 ? new URL(first.url).port : String(ports[2 * index]),
      ROOST_MCP_PORT: index === 0 ? (first.env.ROOST_MCP_PORT ?? '') : String(ports[2 * index + 1]),
    }
    const replica = replicaOf(first, own, index === 0)
    await replica.start()
    replicas.push(replica)
  }
  const beside = await Promise.all(
    Array.from({ length: schedulers }, () => first.startBeside('server/src/start/scheduler.ts')),
  )

  const addresses = replicas.map(({ url }) => new URL(url).host)
  const openProxy = async (port: number, change: (http: string) => string) => {
    const [redirectPort = 0] = await freePorts(1)
    const site = adapted(nginxForSeveral(addresses), {
      'listen 80;': `listen 127.0.0.1:${redirectPort};`,
      'listen 443 ssl http2;': `listen 127.0.0.1:${port};`,
      'ssl_certificate     /etc/letsencrypt/live/roost.example.com/fullchain.pem;': '',
      'ssl_certificate_key /etc/letsencrypt/live/roost.example.com/privkey.pem;': '',
    })
    return whenReady(startNginx(await mkdtemp(join(folder, 'nginx-')), change(site)), port)
  }
  async function whenReady(proxy: ReverseProxy, port: number) {
    const url = `http://127.0.0.1:${port}`
    const health = () =>
      fetch(`${url}/health/live`).then(
        ({ status }) => status,
        () => 0,
      )
    await eventually(health, (status) => status === 200)
    return { proxy, url }
  }
  stack.use((await openProxy(proxyPort, (http) => http)).proxy)
  const resources = stack.move()
  return {
    platform: first.at(proxyUrl),
    replicas,
    async throughIdleLimit(seconds) {
      const [port = 0] = await freePorts(1)
      const limit = { 'proxy_read_timeout 1h;': `proxy_read_timeout ${seconds}s;` }
      const { proxy, url } = await openProxy(port, (http) => adapted(http, limit))
      proxies.use(proxy)
      return first.at(url)
    },
    async throughCaddy() {
      const [port = 0] = await freePorts(1)
      const sites = adapted(caddyForSeveral(addresses), {
        'roost.example.com {': `http://127.0.0.1:${port} {`,
      })
      const { proxy, url } = await whenReady(startCaddy(await mkdtemp(join(folder, 'caddy-')), sites), port)
      proxies.use(proxy)
      return first.at(url)
    },
    databaseUrl,
    redisUrl: redis.url,
    pids: () => [...replicas.flatMap((replica) => replica.pids()), ...beside.map(({ pid }) => pid)],
    async [Symbol.asyncDispose]() {
      // The platform removes its agents through the first one.
      if (replicas[0]?.pids().length === 0) await replicas[0].start()
      await resources.disposeAsync()
    },
  }
}

/** Returns the address of the new database. */
async function createDatabase(server: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await client.query(`create database ${name}`)
  } finally {
    await client.end()
  }
  return Object.assign(new URL(server), { pathname: `/${name}` }).href
}

function replicaOf(first: Platform, own: Record<string, string>, isFirst: boolean): Replica {
  const running: BesideProcess[] = []
  let isApiRunning = isFirst
  return {
    url: `http://127.0.0.1:${own.ROOST_PORT}`,
    mcpUrl: `http://127.0.0.1:${own.ROOST_MCP_PORT}/mcp`,
    pids: () => [...(isFirst && isApiRunning ? [first.apiPid()] : []), ...running.map(({ pid }) => pid)],
    async kill() {
      const ended = running.splice(0).map((each) => each.end('SIGKILL'))
      if (isFirst) ended.push(first.killApi())
      isApiRunning = false
      await Promise.all(ended)
    },
    async start() {
      if (!isFirst) running.push(await first.startBeside('server/src/start/api.ts', own))
      else if (!isApiRunning) await first.startApi()
      isApiRunning = true
      running.push(await first.startBeside('mcp/src/start.ts', own))
    },
  }
}
