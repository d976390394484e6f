/**
 * Builds the images of agents: all, or those of the runtimes given as arguments. `--platform` builds the platform's image
 * and the one of the service `backup` too. Prints its progress and exits when all exist. `--check` builds nothing and
 * prints which images are missing.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ConfigError, parseConfig } from '../config.ts'
import { buildRecord } from '../operations/version/index.ts'
import {
  ensureBackupServiceImage,
  findBackupServiceImage,
} from '../ports/agent-images/docker/backup-service-image.ts'
import { findPlatformImage } from '../ports/agent-images/docker/platform-image.ts'
import { openAgentImages } from '../ports/agent-images/open.ts'
import { AgentImageError, type AgentRuntime, agentRuntimes } from '../ports/agent-images/port.ts'
import { connect } from '../ports/containers/docker/connect.ts'
import { exitConfig, fail, sendMessage, stopRequested } from './supervision.ts'

const { values, positionals } = parseArgs({
  options: { check: { type: 'boolean', default: false }, platform: { type: 'boolean', default: false } },
  allowPositionals: true,
})

const stop = new AbortController()
void stopRequested().then(() => stop.abort())

try {
  const config = parseConfig(process.env)
  const { containersUrl, agentImage, dataDir } = config
  const images = await openAgentImages(containersUrl, { connect, agentImage, dataDir, env: process.env })
  for (const runtime of selectedRuntimes(positionals)) {
    if (values.check) {
      const { image } = images.tagFor(runtime)
      console.log(`${runtime} ${image} ${(await images.isReady(runtime)) ? 'ready' : 'missing'}`)
      continue
    }
    await images.ensure(runtime, (text) => sendMessage({ type: 'progress', text }), stop.signal)
  }
  if (values.platform) {
    const root = resolve(import.meta.dirname, '../../..')
    const onProgress = (text: string) => sendMessage({ type: 'progress', text })
    const docker = connect(containersUrl)
    const record = await buildRecord(root)
    const platformImage = { docker, root, record, onProgress, signal: stop.signal, env: process.env }
    if (!values.check) await ensureBackupServiceImage(platformImage)
    else
      for (const find of [findPlatformImage, findBackupServiceImage]) {
        const { image, isReady } = await find(platformImage)
        console.log(`platform ${image} ${isReady ? 'ready' : 'missing'}`)
      }
  }
  process.exit(0)
} catch (error) {
  if (error instanceof ConfigError) fail(error.message, exitConfig)
  if (error instanceof AgentImageError) fail(error.message, error.fault === 'cancelled' ? 130 : 1)
  throw error
}

function selectedRuntimes(names: string[]): readonly AgentRuntime[] {
  if (names.length === 0) return agentRuntimes
  const unknown = names.find((name) => !agentRuntimes.some((runtime) => runtime === name))
  if (unknown !== undefined)
    fail(`There is no runtime ${JSON.stringify(unknown)}: ${agentRuntimes.join(', ')}`, 2)
  return agentRuntimes.filter((runtime) => names.includes(runtime))
}
