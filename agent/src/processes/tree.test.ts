import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createIdentities, type ProcessUser, readIdentityFacts } from './identity.ts'
import { createProcessTree, markerName } from './tree.ts'

const identities = createIdentities(readIdentityFacts({ uid: 0, gid: 0 }))
// Switching users needs root.
const users: ProcessUser[] = process.getuid?.() === 0 ? ['developer', 'reader'] : ['developer']
const become = 'exec /bin/sh -c "$0" "$0"'

for (const user of users)
  test(`processes that replace themselves during the scan are killed too (${user})`, async () => {
    const tree = createProcessTree(user, identities)
    for (let round = 0; round < 8; round += 1) {
      const marker = `becoming-${process.pid}-${round}`
      const { command, args } = identities.as(user, '/bin/sh', ['-c', `echo begun; ${become}`, become])
      const child = spawn(command, args, {
        env: { [markerName]: marker },
        stdio: ['ignore', 'pipe', 'ignore'],
        detached: true,
      })
      const exited = once(child, 'exit')
      await once(child.stdout, 'data')
      await tree.killMarked(marker)
      const isLeft = isAlive(child.pid ?? 0)
      child.kill('SIGKILL')
      await exited
      assert.equal(isLeft, false, `round ${round}`)
    }
  })

/** An ended process has no memory, even before it is reaped. */
function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/statm`, 'utf8').startsWith('0 ')
  } catch {
    return false
  }
}
