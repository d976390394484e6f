import { randomBytes } from 'node:crypto'
import { access, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { pack } from 'tar-stream'
import { connect, createAsk } from './connect.ts'

/** A real engine for tests, with a small image and control over the connection. */
export type TestEngine = {
  docker: Docker
  image: string
  line: EngineConnection
  /** Value of `roost.install` for everything the test creates. */
  mark: string
  /** Removes the image and every container, volume and network with the mark. */
  close(): Promise<void>
}

/** A proxy socket that tests can cut and that records requests. */
export type EngineConnection = {
  url: string
  /** Request lines so far, such as `GET /containers/…/json HTTP/1.1`. */
  requests: string[]
  /** Closes all connections; new ones work. */
  cut(): void
}

/** Fails when no engine answers, so that no test passes without one. */
export async function openTestEngine(url: string): Promise<TestEngine> {
  const docker = connect(url)
  try {
    await createAsk(10)('ping', () => docker.ping())
  } catch (cause) {
    throw new Error(`no container engine answers at ${url} (ROOST_TEST_CONTAINERS_URL)`, { cause })
  }
  const mark = `roost-test-${randomBytes(6).toString('hex')}`
  // Podman's import accepts no other tag.
  const image = `${mark}:latest`
  const folder = await mkdtemp(join(tmpdir(), 'roost-engine-'))
  await importBusybox(docker, mark)
  const line = await openConnection(docker, join(folder, 'engine.sock'))
  return {
    docker,
    image,
    line,
    mark,
    async close() {
      line.close()
      const filters = { label: [`roost.install=${mark}`] }
      for (const { Id } of await docker.listContainers({ all: true, filters })) {
        await docker.getContainer(Id).remove({ force: true, v: true })
      }
      for (const { Name } of (await docker.listVolumes({ filters: JSON.stringify(filters) })).Volumes ?? []) {
        await docker.getVolume(Name).remove()
      }
      for (const { Id } of await docker.listNetworks({ filters })) await docker.getNetwork(Id).remove()
      await docker.getImage(image).remove({ force: true })
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Creates an image with the host's static busybox that runs `ROOST_TEST_SCRIPT`. Needs no registry. */
async function importBusybox(docker: Docker, repo: string): Promise<void> {
  const busybox = await findBusybox()
  const archive = pack()
  archive.entry({ name: 'bin/busybox', mode: 0o755 }, await readFile(busybox))
  for (const applet of [
    'sh',
    'cat',
    'sleep',
    'nc',
    'nslookup',
    'id',
    'mount',
    'touch',
    'stat',
    'grep',
    'ip',
    'true',
    'cp',
    'head',
    'ls',
    'mkdir',
    'chmod',
    'timeout',
  ]) {
    archive.entry({ name: `bin/${applet}`, type: 'symlink', linkname: 'busybox' })
  }
  archive.finalize()
  const changes = 'CMD ["/bin/sh","-c","eval \\"$ROOST_TEST_SCRIPT\\""]'
  const progress: NodeJS.ReadableStream = await docker.importImage(Readable.from(archive), {
    repo,
    changes,
  })
  let answer = ''
  for await (const chunk of progress) answer += String(chunk)
  if (/"error"/.test(answer)) throw new Error(`the engine refused the test image: ${answer}`)
}

async function findBusybox(): Promise<string> {
  for (const path of ['/usr/bin/busybox', '/bin/busybox']) {
    const found = await access(path).then(
      () => true,
      () => false,
    )
    if (found) return path
  }
  throw new Error('container tests make their image of busybox: install the package busybox-static')
}

async function openConnection(docker: Docker, path: string): Promise<EngineConnection & { close(): void }> {
  // The library's types do not declare what it resolved (default socket, DOCKER_HOST).
  const modem = docker.modem as unknown as {
    getSocketPath(): Promise<string> | undefined
    host?: string
    port?: number
  }
  const socketPath = await modem.getSocketPath()
  const open = new Set<Socket>()
  const requests: string[] = []
  const server: Server = createServer((client) => {
    const engine = socketPath ? dial(socketPath) : dial(Number(modem.port), modem.host)
    client.on('data', (chunk) => {
      const first = chunk.toString('latin1').split('\r\n', 1)[0] ?? ''
      if (/^[A-Z]+ \/.* HTTP\/1/.test(first)) requests.push(first)
    })
    for (const [from, to] of [
      [client, engine],
      [engine, client],
    ] as const) {
      open.add(from)
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        open.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  const cut = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    url: `docker://${path}`,
    requests,
    cut,
    close() {
      server.close()
      cut()
    },
  }
}
