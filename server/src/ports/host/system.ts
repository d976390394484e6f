import { statfs } from 'node:fs/promises'
import { cpus, freemem, loadavg, totalmem } from 'node:os'
import type { Host } from './port.ts'

/** Reads the operating system's figures; `folder` selects the disk. */
export function systemHost(folder: string): Host {
  return {
    async read() {
      const disk = await statfs(folder)
      const times = cpus().map((cpu) => cpu.times)
      const totals = times.map(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq)
      const idle = sum(times.map((each) => each.idle))
      const [one = 0, five = 0, fifteen = 0] = loadavg()
      return {
        cpuCount: times.length,
        cpuBusyMs: sum(totals) - idle,
        cpuTotalMs: sum(totals),
        memory: { usedBytes: totalmem() - freemem(), totalBytes: totalmem() },
        // Counts like `df`: blocks reserved for root are neither used nor available.
        disk: {
          usedBytes: (disk.blocks - disk.bfree) * disk.bsize,
          totalBytes: (disk.blocks - disk.bfree + disk.bavail) * disk.bsize,
        },
        load: [one, five, fifteen],
      }
    },
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
