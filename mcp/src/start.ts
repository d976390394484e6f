/** The MCP server process. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@roost/contracts/client'
import { McpConfigError, parseMcpConfig } from './config.ts'
import { startHeartbeat } from './heartbeat.ts'
import { createLog } from './log.ts'
import { serveMcp } from './serve.ts'

/** Exit code for an invalid configuration: a restart would not help (EX_CONFIG). */
const exitConfig = 78

const log = createLog(
  (line) => process.stderr.write(line),
  () => new Date(),
)

try {
  await run()
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error)
  process.send?.({ type: 'fatal', reason })
  console.error(reason)
  process.exit(error instanceof McpConfigError ? exitConfig : 1)
}

async function run(): Promise<void> {
  const stop = stopRequested()
  const build = await readBuild(join(import.meta.dirname, '../..'))
  const config = await parseMcpConfig(process.env, build.version, (path) => readFile(path, 'utf8'))
  const server = await serveMcp(config, log)
  const heartbeat = startHeartbeat(createClient(config.internalUrl, config.internalSecret), build, log)
  process.send?.({
    type: 'ready',
    url: `http://${config.host}:${server.port}/mcp`,
    docs_url: '',
    setup_completed: true,
    containers: '',
    notices: [],
  })
  log.info({ host: config.host, port: server.port }, 'ready')
  log.info({ reason: await stop }, 'stopping')
  await Promise.all([server.close(), heartbeat.stop()])
  process.exit(0)
}

/** The commit is known in releases and images, which have the file `build.json`. */
async function readBuild(root: string): Promise<{ version: string; commit: string | null }> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  const record = await readFile(join(root, 'build.json'), 'utf8').catch(() => null)
  const { commit } = record === null ? { commit: null } : (JSON.parse(record) as { commit: string | null })
  return { version, commit }
}

/** Resolves once, with the reason for the stop. A second signal ends the process immediately. */
function stopRequested(): Promise<string> {
  return new Promise((resolve) => {
    let isRequested = false
    const request = (reason: string) => {
      if (isRequested) process.exit(130)
      isRequested = true
      resolve(reason)
    }
    process.on('SIGTERM', () => request('SIGTERM'))
    process.on('SIGINT', () => request('SIGINT'))
    if (process.send) process.on('disconnect', () => request('the supervisor exited'))
  })
}
