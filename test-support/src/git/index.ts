/** A git host for tests: real repositories over real HTTP, served by git's own server program. */
import { execFile, spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createHostApi } from './host-api.ts'
import { createPack, type Pack } from './packs.ts'

const run = promisify(execFile)

/** Contents by path. `{ link }` is a symbolic link, `{ script }` is executable, null deletes the file. */
export type Files = Record<string, string | Buffer | { link: string } | { script: string } | null>

export type Behaviour = 'well' | 'hang' | 'redirect' | 'not_git' | 'private'

export type GitServer = {
  /** Base address without a trailing slash. */
  url: string
  /** Commits to a repository (`owner/name`), creating it if needed, and returns the commit id. */
  commit(repository: string, files: Files, branch?: string): Promise<string>
  /** Creates an empty repository that accepts pushes. */
  create(repository: string): Promise<void>
  /** Sets or moves a tag; annotated when it has a message. */
  tag(repository: string, name: string, options?: { at?: string; message?: string }): Promise<void>
  /** Creates a tree of `<mode> <type> <sha>\t<name>` entries with arbitrary names and returns its SHA. */
  plant(repository: string, entries: readonly string[]): Promise<string>
  /** Commits a tree and points `main` to it. */
  point(repository: string, tree: string): Promise<void>
  /** Creates a repository with one hand-made pack; `build` returns the tree for `main`. */
  plantPack(repository: string, build: (pack: Pack) => string): Promise<void>
  /** Runs git in the bare repository. */
  git(repository: string, ...args: string[]): Promise<string>
  /**
   * Sets how further requests are answered, for all repositories or one. `hang` never answers; `redirect`
   * answers 302.
   */
  behave(how: Behaviour, repository?: string): void
  /** Path and authorization header of every request. */
  readonly requests: { path: string; authorization: string | null }[]
  [Symbol.asyncDispose](): Promise<void>
}

export async function startGitServer(): Promise<GitServer> {
  const root = await mkdtemp(join(tmpdir(), 'roost-git-'))
  const requests: GitServer['requests'] = []
  const open = new Set<ServerResponse>()
  let behaviour: Behaviour = 'well'
  const single = new Map<string, Behaviour>()
  const behaviourFor = (url = '') => {
    const [, repository = ''] = /^\/([^/]+\/[^/.]+)/.exec(url) ?? []
    return single.get(repository) ?? behaviour
  }

  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? '', authorization: request.headers.authorization ?? null })
    open.add(response)
    response.once('close', () => open.delete(response))
    switch (behaviourFor(request.url)) {
      case 'hang':
        return
      case 'redirect':
        return void response.writeHead(302, { location: `http://localhost:1${request.url}` }).end()
      case 'not_git':
        return void response.end('<html>hello</html>')
      case 'private':
        if (!request.headers.authorization)
          return void response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
        break
      case 'well':
        break
    }
    if (request.url?.startsWith('/api/v3/')) {
      return void api(request, response).catch(() => response.destroy())
    }
    answer(root, request, response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  // A server that listens on a port has an `AddressInfo`.
  const { port } = server.address() as AddressInfo

  const bare = (repository: string) => join(root, `${repository}.git`)
  const git = async (repository: string, ...args: string[]) =>
    (await run('git', ['-C', bare(repository), ...args], { env })).stdout.trim()
  async function create(repository: string): Promise<void> {
    await run('git', ['init', '-q', '--bare', '-b', 'main', bare(repository)], { env })
    await git(repository, 'config', 'http.receivepack', 'true')
  }
  const api = createHostApi({
    create,
    async find(repository) {
      const head = await git(repository, 'symbolic-ref', '--short', 'HEAD').catch(() => null)
      return head === null ? null : { defaultBranch: head }
    },
  })

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    behave(how, repository) {
      if (repository === undefined) behaviour = how
      else single.set(repository, how)
    },
    git,
    create,
    plant: (repository, entries) => plantTree(bare(repository), entries),
    async plantPack(repository, build) {
      await create(repository)
      // Disables delta search, so that the pack is sent unchanged.
      await git(repository, 'config', 'pack.window', '0')
      const pack = createPack()
      const top = build(pack)
      await pack.write(bare(repository), top)
    },
    async point(repository, tree) {
      const commit = await git(repository, 'commit-tree', '-m', 'planted', tree)
      await git(repository, 'update-ref', 'refs/heads/main', commit)
    },
    async commit(repository, files, branch = 'main') {
      const target = bare(repository)
      await run('git', ['init', '-q', '--bare', '-b', 'main', target], { env })
      const work = await mkdtemp(join(tmpdir(), 'roost-git-work-'))
      try {
        await run('git', ['init', '-q', '-b', branch, work], { env })
        const inWork = (...args: string[]) => run('git', ['-C', work, ...args], { env })
        const before = await run('git', ['-C', target, 'rev-parse', '-q', '--verify', branch], { env }).catch(
          () => null,
        )
        if (before) await inWork('pull', '-q', target, branch)
        for (const [path, content] of Object.entries(files)) await put(join(work, path), content)
        await inWork('add', '-A', '-f')
        await inWork('commit', '-q', '--allow-empty', '-m', 'change')
        await inWork('push', '-q', target, `HEAD:refs/heads/${branch}`)
        return (await inWork('rev-parse', 'HEAD')).stdout.trim()
      } finally {
        await rm(work, { recursive: true, force: true })
      }
    },
    async tag(repository, name, { at = 'main', message } = {}) {
      await git(repository, 'tag', '-f', ...(message ? ['-a', '-m', message] : []), name, at)
    },
    async [Symbol.asyncDispose]() {
      for (const response of open) response.destroy()
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
      await rm(root, { recursive: true, force: true })
    },
  }
}

const identity = { NAME: 'Test', EMAIL: 'test@example.org' }
const env = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  ...Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((role) =>
      Object.entries(identity).map(([key, value]) => [`GIT_${role}_${key}`, value]),
    ),
  ),
}

function plantTree(repository: string, entries: readonly string[]): Promise<string> {
  const child = execFile('git', ['-C', repository, 'mktree', '-z'], { env })
  child.stdin?.end(entries.map((entry) => `${entry}\0`).join(''))
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout?.on('data', (chunk: string) => {
      output += chunk
    })
    child.once('close', (code) => (code === 0 ? resolve(output.trim()) : reject(new Error('git mktree'))))
  })
}

async function put(path: string, content: Files[string]): Promise<void> {
  await rm(path, { force: true, recursive: true })
  if (content === null || content === undefined) return
  await mkdir(dirname(path), { recursive: true })
  if (typeof content === 'string' || Buffer.isBuffer(content)) return writeFile(path, content)
  if ('link' in content) return symlink(content.link, path)
  await writeFile(path, content.script)
  await chmod(path, 0o755)
}

/** Implements the common gateway interface: headers, an empty line, the body. */
function answer(root: string, request: IncomingMessage, response: ServerResponse): void {
  const [path = '', query = ''] = (request.url ?? '').split('?')
  // Git requests the address as given, with or without `.git`.
  const file = path.replace(/^(\/[^/]+\/[^/]+?)(\.git)?\//, '$1.git/')
  const child = spawn('git', ['http-backend'], {
    env: {
      ...env,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      PATH_INFO: file,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.once('error', () => response.destroy())
  response.once('close', () => child.kill('SIGKILL'))
  child.stdin.on('error', () => {})
  request.pipe(child.stdin)
  let head = Buffer.alloc(0)
  const onHead = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    child.stdout.off('data', onHead)
    for (const line of head.toString('latin1', 0, end).split('\r\n')) {
      const [name = '', value = ''] = line.split(': ')
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10)
      else response.setHeader(name, value)
    }
    response.write(head.subarray(end + 4))
    child.stdout.pipe(response)
  }
  child.stdout.on('data', onHead)
  child.stdout.once('end', () => response.end())
}
