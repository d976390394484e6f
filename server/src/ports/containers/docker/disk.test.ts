import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DiskAnswer, diskFigures } from './disk.ts'

const isOurs = (labels: Record<string, string> | null | undefined) => labels?.['roost.install'] === 'one'
const ours = { 'roost.install': 'one' }
const foreign = { 'roost.install': 'two' }
const containers = [
  { Id: 'a', SizeRw: 100, Labels: ours },
  // Nothing was written yet.
  { Id: 'b', Labels: ours },
  { Id: 'c', SizeRw: 300, Labels: foreign },
]
const volumes = [
  { Name: 'home', UsageData: { Size: 500 }, Labels: ours },
  { Name: 'unmeasured', UsageData: { Size: -1 }, Labels: ours },
  { Name: 'absent', UsageData: null, Labels: ours },
  { Name: 'foreign', UsageData: { Size: 900 }, Labels: null },
]
const answers: Record<string, DiskAnswer> = {
  'up to API 1.51': { Containers: containers, Volumes: volumes },
  'from API 1.52 on': { ContainerUsage: { Items: containers }, VolumeUsage: { Items: volumes } },
}

for (const [version, answer] of Object.entries(answers)) {
  test(`disk usage ${version}: only own containers and volumes that were measured`, () => {
    const figures = diskFigures(answer, isOurs)
    assert.deepEqual(
      [...figures.containers],
      [
        ['a', 100],
        ['b', 0],
      ],
    )
    assert.deepEqual([...figures.volumes], [['home', 500]])
  })
}

test('an engine without containers and volumes answers with null', () => {
  const { containers, volumes } = diskFigures({ Containers: null, Volumes: null }, isOurs)
  assert.deepEqual([containers.size, volumes.size], [0, 0])
})
