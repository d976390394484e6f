import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host, Space } from './port.ts'

/** What every machine promises. */
export function hostSuite(open: () => Host): void {
  test('levels lie between nothing and all of it', async () => {
    const { memory, disk, cpuCount, load } = await open().read()
    const isLevel = ({ usedBytes, totalBytes }: Space) => usedBytes > 0 && usedBytes <= totalBytes
    assert.ok(isLevel(memory) && isLevel(disk))
    assert.ok(Number.isInteger(cpuCount) && cpuCount > 0)
    assert.ok(load.length === 3 && load.every((value) => value >= 0))
  })

  test('counters of CPU time do not go back, and busy time is part of all time', async () => {
    const host = open()
    const first = await host.read()
    const second = await host.read()
    assert.ok(first.cpuBusyMs > 0 && first.cpuBusyMs <= first.cpuTotalMs)
    assert.ok(second.cpuBusyMs >= first.cpuBusyMs && second.cpuTotalMs >= first.cpuTotalMs)
  })
}
