import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentRuntime } from './port.ts'

export type RuntimePackage = { package: string; version: string; command: string }
export type RuntimePackages = Record<AgentRuntime, RuntimePackage>

/**
 * Reads the npm package of each runtime's CLI from `images/agent/runtimes.json`. Versions are pinned, because
 * the agent program parses the CLI's output.
 */
export async function readRuntimePackages(root: string): Promise<RuntimePackages> {
  // A file of this repository; the image test checks its shape.
  return JSON.parse(await readFile(join(root, 'images/agent/runtimes.json'), 'utf8')) as RuntimePackages
}
