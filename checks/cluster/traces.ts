/** What clusters of `@roost/test-support` leave on this machine. */
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Lists processes, mounts, control groups, links, addresses, routes and rules that contain the cluster's name. */
export async function tracesOf(name: string): Promise<string[]> {
  const pattern = new RegExp(`${name}(?!\\d)`)
  const lines = async (title: string, file: string, ...args: string[]) => {
    const { stdout } = await run(file, args)
    return stdout.split('\n').flatMap((line) => (pattern.test(line) ? [`${title}: ${line}`] : []))
  }
  const found = await Promise.all([
    processes(pattern),
    lines('mount', 'cat', '/proc/self/mountinfo'),
    // Control group trees are folders of a file system that the kernel keeps.
    lines('control group', 'find', '/sys/fs/cgroup', '-mindepth', '2', '-maxdepth', '2', '-type', 'd'),
    lines('link', 'ip', '-o', 'link'),
    lines('address', 'ip', '-o', 'address'),
    lines('route', 'ip', 'route', 'show', 'table', 'all'),
    lines('rule', 'iptables-save'),
  ])
  return found.flat()
}

async function processes(pattern: RegExp): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ')
      const groups = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')
      return pattern.test(command) || pattern.test(groups) ? [`process: ${pid} ${command}`] : []
    }),
  )
  return found.flat()
}
