import { fileURLToPath } from 'node:url'
import type { Setup } from './port.ts'

/** What a CLI runs before a tool that writes: the rules travel as an argument, out of a workspace's reach. */
export function hookCommand({ readOnly, places }: Setup, dialect: 'gemini' | 'codex'): string {
  const rules = Buffer.from(JSON.stringify({ rules: readOnly, home: places.home, dialect })).toString(
    'base64url',
  )
  return `${process.execPath} ${script} ${rules}`
}

const script = fileURLToPath(new URL('./read-only-hook.ts', import.meta.url))
