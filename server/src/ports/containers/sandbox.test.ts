import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSandboxContainers, type SandboxOptions } from './sandbox/sandbox.ts'
import { containersSuite } from './suite.ts'

const isRoot = process.geteuid?.() === 0

// An agent's first process does the same: root drops its rights before the agent starts.
const asDeveloper = isRoot ? ['/usr/bin/setpriv', '--reuid', '1000', '--regid', '1000', '--init-groups'] : []

containersSuite('containers of the sandbox', async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'roost-sandbox-'))
  const image = 'roost-test:1'
  const options = (install: string): SandboxOptions => ({
    install,
    stateDir,
    resolveImage: (name) =>
      name === image
        ? {
            readOnlyBinds: [],
            command: [...asDeveloper, '/bin/sh', '-c', 'eval "$ROOST_TEST_SCRIPT"'],
            env: {},
          }
        : null,
  })
  return {
    containers: await createSandboxContainers(options('one')),
    neighbour: await createSandboxContainers(options('-two')),
    away: await createSandboxContainers({ ...options('three'), bwrapPath: '/usr/bin/roost-test-nowhere' }),
    image,
    tellsMemoryKills: isRoot,
    hasLayers: false,
    runsElsewhere: false,
    async crash(id) {
      const { pid } = JSON.parse(
        await readFile(join(stateDir, 'one', 'containers', id, 'state.json'), 'utf8'),
      )
      assert.ok(pid > 1)
      process.kill(pid, 'SIGKILL')
    },
    async interruptEvents() {
      await unlink(join(stateDir, 'one', 'journal', 'events'))
    },
    async close() {
      await rm(stateDir, { recursive: true })
    },
  }
})
