import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createIdentities, readIdentityFacts } from './identity.ts'
import { createProcessTree, markedProcesses, withMark } from './tree.ts'

const identities = createIdentities(readIdentityFacts({ uid: 0, gid: 0 }))
// Switching users needs root.
const users =
  process.getuid?.() === 0
    ? { developer: identities.developer, reader: identities.reader }
    : { developer: identities.developer }
const asRoot = process.getuid?.() === 0 ? {} : { skip: 'only root can give a process another user' }
const become = 'exec /bin/sh -c "$0" "$0"'

for (const [name, user] of Object.entries(users)) {
  test(`processes that replace themselves during the scan are killed too (${name})`, async () => {
    const tree = createProcessTree(user, identities)
    for (let round = 0; round < 8; round += 1) {
      const marker = `becoming-${process.pid}-${round}`
      const marked = withMark(marker, '/bin/sh', ['-c', `echo begun; ${become}`, become])
      const { command, args, options } = identities.as(user, ...marked)
      const child = spawn(command, args, {
        ...options,
        env: {},
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

  test(`marked processes yield the processor to the agent program (${name})`, async () => {
    const marked = withMark(`nice-${process.pid}`, '/usr/bin/nice', [])
    const { command, args, options } = identities.as(user, ...marked)
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'ignore'] })
    assert.equal(Number((await child.stdout.toArray()).join('')), 10)
  })

  test(`a daemon that clears its environment and detaches is found (${name})`, async () => {
    const tree = createProcessTree(user, identities)
    const marker = `detached-${process.pid}-${name}`
    // Its parent is process 1 once the shell between them has ended, which `wait` awaits.
    const daemon =
      'env -i setsid sh -c "sleep 1000 >/dev/null & echo \\$!" </dev/null & wait; echo settled; exec sleep 1000'
    const marked = withMark(marker, '/bin/sh', ['-c', daemon])
    const { command, args, options } = identities.as(user, ...marked)
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
    const exited = once(child, 'exit')
    let output = ''
    for await (const data of child.stdout.iterator({ destroyOnReturn: false })) {
      output += data
      if (output.includes('settled')) break
    }
    try {
      assert.equal(isAlive(Number.parseInt(output, 10)), true)
      await tree.killDetached(marker, child.pid ?? 0)
      assert.equal(isAlive(Number.parseInt(output, 10)), false)
      assert.equal(isAlive(child.pid ?? 0), true)
    } finally {
      await tree.killMarked(marker)
      await exited
    }
  })
}

test('a process of another user with a copied mark is not awaited', asRoot, async () => {
  const [marker, copier] = [`copied-${process.pid}`, { uid: 30_001, gid: 30_001, groups: [30_001] }]
  const marked = withMark(marker, '/bin/sh', ['-c', 'echo begun; exec sleep 1000'])
  const { command, args, options } = identities.as(copier, ...marked)
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'ignore'] })
  const exited = once(child, 'exit')
  try {
    await once(child.stdout, 'data')
    assert.deepEqual(markedProcesses(marker), [child.pid])
    for (const user of Object.values(users)) {
      let kills = 0
      const as: typeof identities.as = (...command) => {
        kills += 1
        return identities.as(...command)
      }
      await createProcessTree(user, { ...identities, as }).killMarked(marker)
      assert.equal(kills, 0)
      assert.equal(isAlive(child.pid ?? 0), true)
    }
    await createProcessTree(copier, identities).killMarked(marker)
    assert.equal(isAlive(child.pid ?? 0), false)
  } finally {
    child.kill('SIGKILL')
    await exited
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
