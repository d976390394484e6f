/**
 * Makes a home and a scratch folder as the agent program does, as `node private-folder-program.ts ROOT UID`. Before each
 * change of a file it tries to enter the folders as other people. Prints what it found.
 */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPlaces } from '../principals/places.ts'
import { prepareVolume, volumeOf } from '../principals/volume.ts'
import {
  createIdentities,
  developerId,
  joinGroups,
  type ProcessUser,
  readIdentityFacts,
  workAsDeveloper,
} from '../processes/identity.ts'
import { createScratches } from '../turns/scratch.ts'
import { watchChanges } from './fs-faults.ts'

export type PrivateFolderReport = {
  /** Folders that somebody else could enter. */
  entered: string[]
  /** Number of attempts. */
  attempts: number
  /** Mode, owner and path of all entries, as their user sees them. */
  home: string
  scratch: string
}

const [root = '', id = ''] = process.argv.slice(2)
const uid = Number(id)
workAsDeveloper()
process.umask(0o002)
joinGroups()
const identities = createIdentities(readIdentityFacts({ uid: developerId, gid: developerId }))
const { developer } = identities
const volume = volumeOf(join(root, 'volume'))
await prepareVolume(volume)
const entered = new Set<string>()
let attempts = 0

const writer = { uid: uid + 1, gid: developerId, groups: [uid + 1] }
await watchChanges(() => tryToEnter([developer, writer]))

const user = { uid, gid: uid, groups: [uid] }
const places = createPlaces({
  home: root,
  volume,
  identities,
  uids: async () => ({ of: async () => uid }),
  runtime: 'claude-code',
  agentName: 'tester',
})
const place = await places.of({ id: 'visitor:one', access: 'read', credentials: false }, false)
const scratches = createScratches(join(root, 'scratch'), identities)
const scratch = await scratches.make(user)
await mkdir(join(scratch.path, 'images'))
await writeFile(join(scratch.path, 'images', 'one.png'), '')
await scratch.handOver()
tryToEnter([developer, writer])
await (await scratches.make(developer)).handOver()
tryToEnter([writer])

const report: PrivateFolderReport = {
  entered: [...entered],
  attempts,
  home: list(place.home),
  scratch: list(scratch.path),
}
process.stdout.write(JSON.stringify(report))

function tryToEnter(users: ProcessUser[]): void {
  const patterns = ['volume/homes/*', 'volume/program/*', 'scratch/roost-turns/*', 'scratch/roost-turns/*/*']
  const folders = globSync(patterns, { cwd: root }).map((path) => join(root, path))
  for (const user of users) {
    const script = 'for folder; do cd "$folder" && echo "$folder"; done'
    const found = run(user, '/bin/sh', ['-c', script, 'sh', ...folders])
    for (const folder of found.split('\n').filter(Boolean)) entered.add(folder)
    attempts += folders.length
  }
}

function list(folder: string): string {
  return run(user, '/usr/bin/find', [folder, '-printf', '%m %U %G %P\n'])
}

function run(user: ProcessUser, program: string, values: string[]): string {
  const { command, args, options } = identities.as(user, program, values)
  return spawnSync(command, args, { ...options, cwd: '/', encoding: 'utf8' }).stdout
}
