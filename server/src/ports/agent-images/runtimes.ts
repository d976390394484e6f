import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentRuntime } from './port.ts'

export type RuntimePackage = { package: string; version: string; command: string }
export type RuntimePackages = Record<AgentRuntime, RuntimePackage>

/**
 * The npm package of each runtime's CLI, from `images/agent/runtimes.json`. Pinned: what a CLI prints changes
 * between versions, and the agent program reads exactly these.
 */
export async function readRuntimePackages(root: string): Promise<RuntimePackages> {
  // A file of this repository; its shape is held by the image test.
  return JSON.parse(await readFile(join(root, 'images/agent/runtimes.json'), 'utf8')) as RuntimePackages
}
