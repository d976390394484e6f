import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Megabytes of one idle container. Needs root, because it reads the container's processes on the host. */
export type Memory = {
  /** Resident memory of the agent program alone. */
  program: number
  /** Proportional share of all processes, so that code which several containers share counts once. */
  processes: number
  /** What the control group charges, without files that the kernel may drop. */
  group: number
}

export async function memoryOf(container: string): Promise<Memory> {
  const { stdout } = await run('docker', ['top', container, '-eo', 'pid,args'])
  const rows = stdout.split('\n').slice(1).filter(Boolean)
  let [program, processes] = [0, 0]
  for (const row of rows) {
    const [, pid = '', command = ''] = /^\s*(\d+)\s+(.*)$/.exec(row) ?? []
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
    processes += fieldOf(rollup, 'Pss')
    if (command.startsWith('node ') && command.includes('agent/src/start.ts'))
      program = fieldOf(rollup, 'Rss')
  }
  return { program, processes, group: await groupOf(container) }
}

function fieldOf(rollup: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1] ?? Number.NaN) / 1024
}

type Stats = { memory_stats: { usage: number; stats: Record<string, number> } }

/** Version 1 of control groups calls the field `total_inactive_file`, version 2 `inactive_file`. */
async function groupOf(container: string): Promise<number> {
  const path = `/containers/${container}/stats?stream=false&one-shot=true`
  const text = await new Promise<string>((resolve, reject) => {
    const sent = request({ socketPath: '/var/run/docker.sock', path }, async (response) => {
      let body = ''
      for await (const chunk of response.setEncoding('utf8')) body += chunk
      resolve(body)
    })
    sent.on('error', reject)
    sent.end()
  })
  const { usage, stats } = (JSON.parse(text) as Stats).memory_stats
  return (usage - (stats.total_inactive_file ?? stats.inactive_file ?? 0)) / 2 ** 20
}
