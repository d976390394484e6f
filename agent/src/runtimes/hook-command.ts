import { fileURLToPath } from 'node:url'
import type { Setup } from './port.ts'

/**
 * Builds the hook command that a CLI runs before a writing tool. The rules are an argument, which a workspace
 * cannot change.
 */
export function hookCommand({ readOnly, places }: Setup, dialect: 'gemini' | 'codex'): string {
  const rules = Buffer.from(JSON.stringify({ rules: readOnly, home: places.home, dialect })).toString(
    'base64url',
  )
  return `${process.execPath} ${script} ${rules}`
}

const script = fileURLToPath(new URL('./read-only-hook.ts', import.meta.url))
