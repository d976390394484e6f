/** Rows of `history.ts`: the workspace of a fork from a record, compared with `cp -a` of the same tree. */
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installsVariable } from '../cli/src/testing/session.ts'
import { createBases } from '../server/src/agents/bases/index.ts'
import { createEngineIdentity, createLock } from '../server/src/agents/lifecycle/index.ts'
import { createLeases } from '../server/src/foundation/leases/index.ts'
import { systemClock } from '../server/src/kit/clock.ts'
import { createDockerContainers } from '../server/src/ports/containers/docker/docker.ts'
import { systemHost } from '../server/src/ports/host/system.ts'
import { silentLog } from '../server/src/ports/log.ts'
import type { WorkspaceHistory } from '../server/src/ports/workspace-history/port.ts'
import { openTestDatabase } from '../server/src/test/dialects.ts'
import { compare, milliseconds } from './measure.ts'

export type ForkRows = {
  /** The recorded workspace. */
  home: string
  folder: string
  history: WorkspaceHistory
  agentId: string
  recordId: string
  rounds: number
}

const run = promisify(execFile)
const limitMs = 400
const attempts = 8

export async function measureForks({ home, folder, history, agentId, recordId, rounds }: ForkRows) {
  const image = await newestImage()
  // The keeper removes what is left by its label.
  const install = `${process.env[installsVariable]}fork`
  const containers = createDockerContainers('docker:', { install, network: install })
  await using db = await openTestDatabase()
  const bases = createBases({
    ...{ db, history, containers, clock: systemClock, log: silentLog },
    engine: createEngineIdentity(containers),
    lock: createLock({ leases: createLeases({ db, clock: systemClock }), clock: systemClock }),
    imageFor: async () => image,
    isWorking: async () => false,
    // The first fork is measured.
    ...{ host: systemHost(folder), maxBytes: 0 },
  })
  let forks = 0
  const fork = async () => {
    forks += 1
    const agent = { name: `fork-${forks}`, volume_base: `${install}-${forks}`, runtime: 'codex' as const }
    if ((await bases.startFrom({ agentId, record: recordId }, agent)) !== 'layered')
      throw new Error('this container engine has no layers')
  }
  const copy = async () => {
    const took = await milliseconds(() => run('cp', ['-a', home, join(folder, 'copy')]))
    await rm(join(folder, 'copy'), { recursive: true })
    return took
  }
  try {
    const first = [await milliseconds(fork), await copy()] as const
    compare('first fork of a record, which stores its base', [first[0]], [first[1]], Number.POSITIVE_INFINITY)
    const later: number[] = []
    const copies: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      later.push(await milliseconds(fork))
      // A copy takes seconds, and always the same.
      if (round < 3) copies.push(await copy())
    }
    compare('later fork', later, copies, limitMs)
    const together = await milliseconds(() => Promise.all(Array.from({ length: attempts }, fork)))
    compare(
      `${attempts} forks at once`,
      [together],
      copies.map((each) => each * attempts),
      attempts * limitMs,
    )
  } finally {
    const volumes = await containers.listVolumes()
    // Bases come after their layers.
    for (const name of volumes.toSorted((a) => (a.startsWith('agent-') ? -1 : 1)))
      await containers.removeVolume(name)
    await run('docker', ['network', 'rm', install]).catch(() => {})
  }
}

async function newestImage(): Promise<string> {
  const { stdout } = await run('docker', ['images', 'roost-agent', '--format', '{{.Repository}}:{{.Tag}}'])
  const [image = ''] = stdout.split('\n')
  if (image === '') throw new Error('build an agent image first: `./roost up`')
  return image
}
