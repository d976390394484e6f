import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import type { RuntimeName } from '@roost/contracts/link/messages'
import { parseObject, textAt } from '../kit/json.ts'
import { claude } from './claude.ts'
import { createCodex } from './codex.ts'
import { createGemini } from './gemini.ts'
import type { Runtime } from './port.ts'

/** `variables` is the environment of this program. */
export function openRuntime(
  name: RuntimeName,
  variables: Readonly<Record<string, string | undefined>>,
): Runtime {
  switch (name) {
    case 'claude-code':
      return claude
    case 'gemini-cli':
      return createGemini({ compileCache: variables.NODE_COMPILE_CACHE ?? null })
    case 'codex':
      return createCodex({ path: variables.PATH ?? '' })
  }
}

/**
 * Reads the CLI's version from its package file; null when it is missing. Running the command instead takes
 * up to two seconds.
 */
export function readVersion({ command }: Runtime, path: string): string | null {
  const found = path
    .split(delimiter)
    .map((folder) => join(folder, command))
    .find((candidate) => existsSync(candidate))
  if (!found) return null
  for (let folder = dirname(realpathSync(found)); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json')
    if (existsSync(manifest)) return textAt(parseObject(readFileSync(manifest, 'utf8')), 'version')
  }
  return null
}
