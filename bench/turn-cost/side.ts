import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { MailServer } from '@roost/test-support/mail/index'
import type { Platform, RequestOptions, startPlatform } from '../../checks/acceptance/platform.ts'
import { signInByMail, succeed } from '../../checks/attacks/people.ts'
import { currentSession, sessionVariable } from '../../cli/src/testing/session.ts'

/** One work tree under test: its platform, one agent, and a person whom the agent is shared with. */
export type Side = AsyncDisposable & {
  tree: string
  platform: Platform
  container: string
  people: { owner: string; sharer: string }
  /** Opens a conversation; `turn` continues it. */
  converse(token: string): Promise<Conversation>
}
export type Conversation = { turn(): Promise<number> }

const email = 'sharer@example.com'

export async function openSide(tree: string, agent: string, mail: MailServer): Promise<Side> {
  await using stack = new AsyncDisposableStack()
  // The same file in the other tree, which starts that tree's platform.
  const file = pathToFileURL(join(tree, 'checks/acceptance/platform.ts')).href
  const { startPlatform: start } = (await import(file)) as { startPlatform: typeof startPlatform }
  const platform = stack.use(await start({ env: { ...(await ownData()), ROOST_MAIL_URL: mail.url } }))
  await succeed(platform.request('POST', '/api/agents', { name: agent }))
  await succeed(platform.request('POST', `/api/agents/${agent}/share`, { email }))
  const sharer = await signInByMail(platform, mail, email)
  const resources = stack.move()
  return {
    tree,
    platform,
    container: `agent-${agent}`,
    people: { owner: platform.token, sharer },
    async converse(token) {
      const path = `/api/agents/${agent}/sessions`
      const { id } = await succeed(platform.request('POST', path, {}, { token }))
      return { turn: () => firstLine(platform, `${path}/${id}/message`, { token }) }
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** Lets the keeper find the containers and processes of a tree whose platform does not name them itself. */
async function ownData(): Promise<Record<string, string>> {
  const session = currentSession()
  if (!session) throw new Error('The benchmark has no session.')
  const random = (bytes: number) => randomBytes(bytes).toString('hex')
  const folder = join(tmpdir(), `data-${random(4)}`)
  await mkdir(folder)
  await writeFile(join(folder, 'install-id'), session.installs + random(8))
  await writeFile(join(folder, 'encryption.key'), random(32), { mode: 0o600 })
  return { ROOST_DATA_DIR: folder, [sessionVariable]: session.id }
}

/** Milliseconds from the request to the first line of the runtime. Returns when the turn has ended. */
async function firstLine(platform: Platform, path: string, options: RequestOptions): Promise<number> {
  const started = performance.now()
  let first: number | null = null
  for await (const line of platform.stream(path, { message: 'hello [[reply:hi]]' }, options)) {
    if (line.type !== 'system' || line.subtype === 'init') first ??= performance.now() - started
    if (line.type === 'done' && line.status !== 'success')
      throw new Error(`A turn of ${platform.url} failed: ${JSON.stringify(line)}`)
  }
  return first ?? Number.NaN
}
