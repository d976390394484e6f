import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createOwnersFiles, type OwnersFiles } from '../principals/owners-files.ts'
import { createIdentities, type Identities, readIdentityFacts } from '../processes/identity.ts'

/** A workspace and a scratch folder for one test; both are deleted at its end. */
export type TestHome = { home: string; scratch: string; root: string; [Symbol.dispose](): void }

/** Its own folder below `/tmp`, readable by other users. */
export function makeTestHome(): TestHome {
  const root = mkdtempSync('/tmp/roost-agent-test-')
  const home = join(root, 'home')
  const scratch = join(root, 'scratch')
  for (const folder of [home, scratch]) mkdirSync(folder)
  for (const folder of [root, home]) chmodSync(folder, 0o755)
  // As `/tmp`.
  chmodSync(scratch, 0o1777)
  return {
    home,
    scratch,
    root,
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** A new agent's: nobody but the owner has written to the workspace. */
export function ownersFilesOf(home: string): OwnersFiles {
  return createOwnersFiles(home, join(home, '..', 'others-wrote'), identitiesOf(home))
}

export function identitiesOf(home: string): Identities {
  return createIdentities(readIdentityFacts(statSync(home)))
}
