import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** A workspace for one test, with a scratch folder beside it; both go at the end. */
export type TestHome = { home: string; scratch: string; root: string; [Symbol.dispose](): void }

/** Not below `/tmp`'s own sticky folder alone: another user must be able to walk in. */
export function makeTestHome(): TestHome {
  const root = mkdtempSync('/tmp/roost-agent-test-')
  const home = join(root, 'home')
  const scratch = join(root, 'scratch')
  for (const folder of [home, scratch]) mkdirSync(folder)
  for (const folder of [root, home, scratch]) chmodSync(folder, 0o755)
  return {
    home,
    scratch,
    root,
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  }
}
