/** The MCP server process. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { McpConfigError, parseMcpConfig } from './config.ts'
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
  const manifest: { version: string } = JSON.parse(
    await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'),
  )
  const config = await parseMcpConfig(process.env, manifest.version, (path) => readFile(path, 'utf8'))
  const server = await serveMcp(config, log)
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
  await server.close()
  process.exit(0)
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
