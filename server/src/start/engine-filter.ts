/**
 * The engine filter holds the engine's socket in place of the API. Offers the calls that Roost
 * makes, for this installation's objects, on a socket of its own. See `createEngineFilter`.
 */
import { chmod, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Config, ConfigError, parseConfig } from '../config.ts'
import { listen } from '../http/listen.ts'
import { newId } from '../kit/ids.ts'
import { repository as agentImages } from '../ports/agent-images/docker/docker.ts'
import { createEngineFilter } from '../ports/containers/docker/engine-filter/filter.ts'
import { agentImageRule } from '../ports/containers/docker/engine-filter/images.ts'
import { createLog } from '../ports/log.ts'
import { exitConfig, fail, sendMessage, stopRequested } from './supervision.ts'

const drainMs = 3_000
/** The archive of a large workspace takes longest. */
const requestTimeout = 3_600_000

try {
  await runFilter()
} catch (error) {
  if (error instanceof ConfigError) fail(error.message, exitConfig)
  fail(error instanceof Error ? error.message : String(error))
}

async function runFilter(): Promise<void> {
  const stop = stopRequested()
  const config = parseConfig(process.env)
  const log = createLog({ level: config.logLevel }).child({ process: 'engine-filter' })
  const path = config.engineFilterSocket
  // The filter asks callers for no credential. Without this, other users could connect before the socket has its mode.
  process.umask(0o027)
  await mkdir(dirname(path), { recursive: true })
  const install = await ownInstallId(config)
  const filter = createEngineFilter({
    install,
    engineSocket: config.engineSocket,
    isAllowedImage: agentImageRule(agentImages, config.agentImage),
    log,
  })
  const listening = await listen({ path, isForGroup: true }, filter, { requestTimeout })
  sendMessage({
    type: 'ready',
    url: `unix:${path}`,
    docs_url: '',
    setup_completed: true,
    containers: '',
    notices: [],
  })
  log.info({ install, socket: path }, 'ready')
  log.info({ why: await stop }, 'stopping')
  await listening.close(drainMs)
  await rm(path, { force: true })
  process.exit(0)
}

/**
 * The id is stored here and not in the platform's data, so that a break-in at the platform cannot take over containers
 * of another installation.
 */
async function ownInstallId({ engineFilterSocket, installId }: Config): Promise<string> {
  const path = join(dirname(engineFilterSocket), 'install-id')
  const stored = await readFile(path, 'utf8').catch(() => '')
  if (stored !== '' && (installId === null || installId === stored)) return stored
  const draft = `${path}.${newId()}`
  await writeFile(draft, installId ?? newId())
  await chmod(draft, 0o644)
  await rm(path, { force: true })
  await link(draft, path)
  await rm(draft, { force: true })
  return readFile(path, 'utf8')
}
