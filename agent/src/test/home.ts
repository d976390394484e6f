import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** A workspace and a scratch folder for one test; both are deleted at its end. */
export type TestHome = { home: string; scratch: string; root: string; [Symbol.dispose](): void }

/** Its own folder below `/tmp`, readable by other users. */
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
