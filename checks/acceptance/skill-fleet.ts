/** Delivery of skills to many agents at once, some of which restart meanwhile. */
import assert from 'node:assert/strict'
import type { GitServer } from '@roost/test-support/git/index'
import { eventually, type Loose, type Platform } from './platform.ts'
import { createAgent, docker } from './steps.ts'

export type FleetSize = { agents: number; restarts: number }
export type FleetFigures = FleetSize & {
  skills: number
  files: number
  seconds: number
  answers: Record<string, number>
}

/** Parses `20,5`: number of agents, and how many of them restart. */
export function sizeOf(text: string | undefined): FleetSize {
  const [agents = 6, restarts = 2] = (text ?? '').split(',').filter(Boolean).map(Number)
  assert.ok(agents > 0 && agents <= 50 && restarts >= 0 && restarts <= agents, `not a size: ${text}`)
  return { agents, restarts }
}

/** Every assignment must be delivered, and every file in every container must match the repository. */
export async function deliverToFleet(
  platform: Platform,
  host: GitServer,
  { repository, agents, restarts }: FleetSize & { repository: string },
): Promise<FleetFigures> {
  const names = Array.from({ length: agents }, (_, index) => `fleet-${index}`)
  for (const name of names) await createAgent(platform, name)
  const expected = await host.git(repository, 'ls-tree', '-r', 'main:skills')
  const files = expected.split('\n').map((line) => line.replace(/^\d+ blob ([0-9a-f]+)\t/, '$1 '))
  const skills = [...new Set(files.map((line) => line.slice(41).split('/')[0] ?? ''))]

  const startedAt = performance.now()
  const answers: Record<string, number> = {}
  const countAnswer = (answer: string) => {
    answers[answer] = (answers[answer] ?? 0) + 1
  }
  const assigned = names.map(async (name) => {
    const reply = await platform.request('PUT', `/api/agents/${name}/skills`, { skills })
    assert.equal(reply.status, 200, reply.text)
    countAnswer(`assigned: ${reply.json.delivery.status}`)
  })
  const restarted = names.slice(0, restarts).map(async (name) => {
    assert.equal((await platform.request('POST', `/api/agents/${name}/stop`)).status, 200)
    const reply = await platform.request('POST', `/api/agents/${name}/start`)
    assert.equal(reply.status, 200, reply.text)
    countAnswer(`started: ${reply.json.skills_injection?.status ?? 'nothing'}`)
  })
  await Promise.all([...assigned, ...restarted])
  const isDelivered = (row: Loose) => ['injected', 'unchanged'].includes(row.delivery_status)
  for (const name of names) {
    await eventually(
      async () => (await platform.request('GET', `/api/agents/${name}/skills`)).json as Loose[],
      (rows) => rows.length === skills.length && rows.every(isDelivered),
    )
  }
  const seconds = (performance.now() - startedAt) / 1000
  for (const name of names) await assertBytes(platform, name, files)
  return { agents, restarts, skills: skills.length, files: files.length, seconds, answers }
}

const hashAll =
  'cd ~/.claude/skills && find . -type f ! -name .roost-skill.json -printf "%P\\n" | sort | while read -r file; do echo "$(git hash-object "$file") $file"; done'
const listAll =
  "cd ~/.claude/skills && for folder in *; do node -e \"for (const file of JSON.parse(require('fs').readFileSync(process.argv[1] + '/.roost-skill.json')).files) console.log(process.argv[1] + '/' + file)\" \"$folder\"; done"

/** Workspace, manifests and repository must agree. */
async function assertBytes(platform: Platform, name: string, files: readonly string[]): Promise<void> {
  const inside = (script: string) =>
    docker('exec', '-u', 'developer', platform.containerOf(name), 'sh', '-c', script)
  const sorted = (lines: readonly string[]) => lines.toSorted()
  assert.deepEqual(sorted((await inside(hashAll)).split('\n')), sorted(files), name)
  const paths = files.map((line) => line.slice(41))
  assert.deepEqual(sorted((await inside(listAll)).split('\n')), sorted(paths), `manifests of ${name}`)
}
