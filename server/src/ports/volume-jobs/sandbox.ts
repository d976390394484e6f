import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { checkEnv, type JobMount, jobHostName, lastLines, VolumeJobError, type VolumeJobs } from './port.ts'

export type SandboxJobsOptions = {
  /** Temporary folders of jobs. */
  folder: string
  /** Resolves the name of a volume to its folder on this machine. */
  volumeFolder(volume: string): string
  /** Search path for bubblewrap, restic and tar. */
  path: string
}

const capabilities = ['CHOWN', 'DAC_OVERRIDE', 'DAC_READ_SEARCH', 'FOWNER', 'FSETID']

/** Jobs in bubblewrap, with the programs of this machine. */
export function createSandboxJobs({ folder, volumeFolder, path }: SandboxJobsOptions): VolumeJobs {
  return {
    problem: async () => missingProgram(),

    async prepare() {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true })
      const problem = missingProgram()
      if (problem !== null) throw new VolumeJobError(problem)
    },

    async run({ script, env, mounts, hasNetwork, input, output, failOn, signal }) {
      checkEnv(env)
      signal?.throwIfAborted()
      const own = await mkdtemp(join(folder, 'job-'))
      try {
        for (const name of ['platform', 'volumes']) await mkdir(join(own, name))
        const isRoot = process.getuid?.() === 0
        const args = [
          ...['--die-with-parent', '--new-session', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
          ...['--hostname', jobHostName(), ...(hasNetwork ? [] : ['--unshare-net'])],
          ...[
            '--cap-drop',
            'ALL',
            ...(isRoot ? capabilities.flatMap((name) => ['--cap-add', `CAP_${name}`]) : []),
          ],
          ...systemFolders(),
          ...[
            '--ro-bind',
            '/etc',
            '/etc',
            '--dev',
            '/dev',
            '--proc',
            '/proc',
            '--tmpfs',
            '/tmp',
            '--tmpfs',
            '/run',
          ],
          ...(existsSync('/run/systemd/resolve')
            ? ['--ro-bind', '/run/systemd/resolve', '/run/systemd/resolve']
            : []),
          ...['--bind', own, '/roost', ...mounts.flatMap(mountArguments)],
          ...['--chdir', '/', '/bin/sh', '-c', script],
        ]
        const child = spawn('bwrap', args, {
          env: { PATH: path, HOME: '/tmp', LC_ALL: 'C.UTF-8', ...env },
          stdio: ['pipe', 'pipe', 'pipe'],
        })
        const kill = () => child.kill('SIGKILL')
        signal?.addEventListener('abort', kill, { once: true })
        const errors = lastLines((text) => failOn?.test(text) && kill())
        child.stderr.setEncoding('utf8').on('data', errors.take)
        const closed = once(child, 'close')
        // A program that ends before it has read its input is judged by its exit code.
        const feeding = input
          ? pipeline(input, child.stdin).catch((error: NodeJS.ErrnoException) => {
              if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') {
                kill()
                throw error
              }
            })
          : Promise.resolve(child.stdin.end())
        if (!output) child.stdout.resume()
        const reading = output ? pipeline(child.stdout, output) : Promise.resolve()
        reading.catch(kill)
        try {
          const [[code]] = await Promise.all([closed, feeding, reading])
          signal?.throwIfAborted()
          return { code: code ?? 1, errors: errors.lines() }
        } finally {
          signal?.removeEventListener('abort', kill)
          child.kill('SIGKILL')
        }
      } finally {
        await rm(own, { recursive: true, force: true })
      }
    },
  }

  function missingProgram(): string | null {
    const isMissing = (program: string) =>
      !path.split(':').some((each) => each !== '' && existsSync(join(each, program)))
    const program = ['bwrap', 'restic', 'tar'].find(isMissing)
    if (program === undefined) return null
    return `${program} is missing. Install the package ${program === 'bwrap' ? 'bubblewrap' : program}.`
  }

  function mountArguments(mount: JobMount): string[] {
    const source = mount.type === 'volume' ? volumeFolder(mount.volume) : mount.source
    // A volume of an agent that was deleted meanwhile is skipped.
    const isOptional = mount.type === 'volume' && mount.readOnly
    return [`--${mount.readOnly ? 'ro-' : ''}bind${isOptional ? '-try' : ''}`, source, mount.target]
  }
}

/** Mounts /usr and its companions as on this machine: links on merged systems, folders elsewhere. */
function systemFolders(): string[] {
  const found = ['--ro-bind', '/usr', '/usr']
  for (const path of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    const entry = lstatSync(path, { throwIfNoEntry: false })
    if (entry?.isSymbolicLink()) found.push('--symlink', readlinkSync(path), path)
    else if (entry?.isDirectory()) found.push('--ro-bind', path, path)
  }
  return found
}
