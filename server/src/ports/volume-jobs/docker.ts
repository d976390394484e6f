import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type Docker from 'dockerode'
import { type OwnContainer, readOwnContainer, throughOwnMounts } from './own-mounts.ts'
import { checkEnv, jobHostName, lastLines, VolumeJobError, type VolumeJobs } from './port.ts'

export type DockerJobsOptions = {
  docker: Docker
  /** Label value of this installation. */
  install: string
  /** True: this process runs in a container with the programs of jobs, and jobs use its image and its mounts. */
  isInContainer: boolean
  /** Builds the image unless it exists, and returns its name. */
  ensureImage(onProgress: (text: string) => void, signal?: AbortSignal): Promise<string>
}

const jobLabel = 'roost.backup-job'
/** Restores owners and modes. Without MKNOD, a device file of a changed backup cannot be created. */
const capabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID']
/**
 * Reads variables up to an empty line from the input, then runs the script. The engine stores a container's
 * environment on disk, and its input never.
 */
const prelude =
  'while IFS= read -r line && [ -n "$line" ]; do export "$line"; done; exec /bin/sh -c "$ROOST_JOB_SCRIPT"'

const filtered = 'A filter between the platform and its container engine does not allow backup jobs.'
const probeTimeoutMs = 5_000

/** Jobs in containers. The platform needs no access to the engine's folders. */
export function createDockerJobs(options: DockerJobsOptions): VolumeJobs {
  const { docker, install, isInContainer, ensureImage } = options
  let image = ''
  let isFiltered = false
  let own: OwnContainer | null = null
  return {
    async problem() {
      // A filter of the engine does not change while this process runs, and logs each refusal.
      if (isFiltered) return filtered
      const status = await statusOfProbe(docker)
      if (status === null) return 'The container engine does not answer.'
      isFiltered = status === 403
      return isFiltered ? filtered : null
    },

    async prepare(onProgress, signal) {
      if (isInContainer) own = await readOwnContainer(docker)
      image = own?.image ?? (await ensureImage(onProgress, signal))
      const filters = JSON.stringify({ label: [`${jobLabel}=${install}`] })
      for (const { Id } of await docker.listContainers({ all: true, filters }))
        await docker.getContainer(Id).remove({ force: true, v: true }).catch(ignoreMissing)
    },

    async run({ script, env, hasNetwork, input, output, failOn, signal, ...job }) {
      checkEnv(env)
      signal?.throwIfAborted()
      const { mounts, links } = own ? throughOwnMounts(job.mounts, own.mounts) : { ...job, links: '' }
      const container = await docker
        .createContainer({
          Image: image,
          Hostname: jobHostName(),
          Entrypoint: ['/bin/sh', '-c'],
          Cmd: [prelude],
          Env: [`ROOST_JOB_SCRIPT=${links}${script}`, 'HOME=/tmp', 'LC_ALL=C.UTF-8'],
          Labels: { [jobLabel]: install },
          WorkingDir: '/',
          User: '0:0',
          AttachStdin: true,
          AttachStdout: true,
          AttachStderr: true,
          OpenStdin: true,
          StdinOnce: true,
          HostConfig: {
            NetworkMode: hasNetwork ? 'host' : 'none',
            CapDrop: ['ALL'],
            CapAdd: capabilities,
            SecurityOpt: ['no-new-privileges:true'],
            Init: true,
            // A file of a container would be on the engine's disk, also after a kill.
            Tmpfs: { '/run': 'rw,noexec,nosuid,nodev,mode=0755,size=1m' },
            // The output of a job is a backup's content.
            LogConfig: { Type: 'none', Config: {} },
            Mounts: mounts.map((mount) =>
              mount.type === 'volume'
                ? {
                    Type: 'volume' as const,
                    Source: mount.volume,
                    Target: mount.target,
                    ReadOnly: mount.readOnly,
                    VolumeOptions: {
                      NoCopy: true,
                      // If the agent was just deleted, the engine creates the volume again; the label keeps it ours.
                      Labels: { 'roost.install': install },
                      DriverConfig: { Name: '', Options: {} },
                    },
                  }
                : {
                    Type: 'bind' as const,
                    Source: mount.source,
                    Target: mount.target,
                    ReadOnly: mount.readOnly,
                  },
            ),
          },
        })
        .catch(failed)
      const kill = () => void container.kill().catch(() => {})
      try {
        const attached = await container
          .attach({ stream: true, stdin: true, stdout: true, stderr: true, hijack: true })
          .catch(failed)
        const errors = lastLines((text) => failOn?.test(text) && kill())
        const [out, err] = [new PassThrough(), new PassThrough()]
        err.setEncoding('utf8').on('data', errors.take)
        docker.modem.demuxStream(attached, out, err)
        const isOver = new Promise<void>((resolve) => {
          for (const event of ['end', 'close', 'error']) attached.on(event, () => resolve())
        })
        signal?.addEventListener('abort', kill, { once: true })
        const ended = container.wait({ condition: 'next-exit' }) as Promise<{ StatusCode: number }>
        await container.start().catch(failed)
        const reading = output ? pipeline(out, output) : pipeline(out, discard)
        reading.catch(kill)
        const header = Object.entries(env).map(([name, value]) => `${name}=${value}\n`)
        attached.write(`${header.join('')}\n`)
        const feeding = feed(input, attached).catch((error: unknown) => {
          kill()
          throw error
        })
        const exit = ended.then(async ({ StatusCode }) => {
          // Output may arrive after the exit.
          await isOver
          out.end()
          input?.destroy()
          return StatusCode
        })
        const [code] = await Promise.all([exit, reading, feeding])
        signal?.throwIfAborted()
        return { code, errors: errors.lines() }
      } finally {
        signal?.removeEventListener('abort', kill)
        await container.remove({ force: true, v: true }).catch(ignoreMissing)
      }
    },
  }
}

/**
 * Attaches to a container that does not exist, which is 404 without a filter. Returns the status; null without an
 * answer.
 */
function statusOfProbe(docker: Docker): Promise<number | null> {
  return new Promise((resolve) => {
    docker.modem.dial(
      {
        path: '/containers/roost-backup-probe/attach',
        method: 'POST',
        statusCodes: { 200: true },
        abortSignal: AbortSignal.timeout(probeTimeoutMs),
      },
      (error) => resolve(error && 'statusCode' in error ? Number(error.statusCode) || null : null),
    )
  })
}

/** A program that ends before it has read its input is judged by its exit code. */
async function feed(input: Readable | undefined, attached: NodeJS.ReadWriteStream): Promise<void> {
  attached.on('error', () => {})
  if (!input) {
    attached.end()
    return
  }
  const isGone = new Promise<void>((resolve) => {
    attached.on('close', resolve)
    attached.on('end', resolve)
  })
  const copying = (async () => {
    for await (const piece of input)
      if (!attached.write(piece)) {
        await Promise.race([new Promise((resolve) => attached.once('drain', resolve)), isGone])
      }
    attached.end()
  })()
  copying.catch(() => {})
  await Promise.race([copying, isGone])
}

async function discard(pieces: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of pieces);
}

function failed(error: unknown): never {
  const reason = error instanceof Error ? error.message.trim() : String(error)
  throw new VolumeJobError(`The container engine cannot run the backup job: ${reason}`, { cause: error })
}

function ignoreMissing(error: unknown): void {
  if (error instanceof Error && 'statusCode' in error && [404, 409].includes(Number(error.statusCode))) return
  throw error
}
