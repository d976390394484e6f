/** The acceptance tests of what people do most, with the agents on a real cluster. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Cluster, startCluster } from '@roost/test-support/cluster/index'
import { agentImages, kubectlOf, platformOn } from './platform-on.ts'

/** The terminal, files and shared folders are in `workspace`. */
const areas = ['agents', 'chat', 'tasks', 'schedules', 'workspace', 'credentials', 'egress']
const root = join(import.meta.dirname, '../..')
const areaTimeoutMs = 10 * 60_000

describe('acceptance tests with agents on a cluster', () => {
  let cluster: Cluster
  let env: NodeJS.ProcessEnv

  before(async () => {
    const images = await agentImages()
    cluster = await startCluster({ images: Object.values(images) })
    env = {
      ...process.env,
      // The files run as in a process of their own, not as children of this test.
      NODE_TEST_CONTEXT: undefined,
      ...(await kubectlOf(cluster)),
      ROOST_TEST_PLATFORM_ENV: JSON.stringify(platformOn(cluster, images)),
    }
  })
  after(() => cluster?.close())

  for (const area of areas)
    test(area, { timeout: 2 * areaTimeoutMs }, async (t) => {
      const file = join(root, 'checks/acceptance', `${area}.test.ts`)
      const child = spawn(process.execPath, ['--test', '--test-reporter=spec', file], {
        ...{ env, cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
      })
      let output = ''
      child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text))
      // It then reports which tests were over.
      const late = setTimeout(() => child.kill('SIGINT'), areaTimeoutMs)
      const [code] = await once(child, 'close').finally(() => clearTimeout(late))
      // The report of a failed test comes only at the end of all files.
      if (code !== 0) console.error(output)
      const passed = Number(/^ℹ pass (\d+)$/m.exec(output)?.[1] ?? 0)
      assert.equal(code, 0, output)
      assert.ok(passed > 0, output)
      t.diagnostic(`${passed} passed, ${/^ℹ skipped (\d+)$/m.exec(output)?.[1]} need Docker`)
    })
})
