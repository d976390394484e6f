import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host, Space } from './port.ts'

/** Tests for every host. */
export function hostSuite(open: () => Host): void {
  test('levels are between zero and the total', async () => {
    const { memory, disk, cpuCount, load } = await open().read()
    const isLevel = ({ usedBytes, totalBytes }: Space) => usedBytes > 0 && usedBytes <= totalBytes
    assert.ok(isLevel(memory) && isLevel(disk))
    assert.ok(Number.isInteger(cpuCount) && cpuCount > 0)
    assert.ok(load.length === 3 && load.every((value) => value >= 0))
  })

  test('CPU counters never decrease, and busy time is part of the total', async () => {
    const host = open()
    const first = await host.read()
    const second = await host.read()
    assert.ok(first.cpuBusyMs > 0 && first.cpuBusyMs <= first.cpuTotalMs)
    assert.ok(second.cpuBusyMs >= first.cpuBusyMs && second.cpuTotalMs >= first.cpuTotalMs)
  })
}
