import { hostname } from 'node:os'
import { ApiError, type Client, createClient } from '@roost/contracts/client'
import { createKey, deleteKey, validateKey } from '@roost/contracts/identity/keys'
import { verifyFactorLogin } from '@roost/contracts/identity/second-factor'
import { createToken, logout as endSession } from '@roost/contracts/identity/sessions'
import { getSetupStatus } from '@roost/contracts/identity/setup'
import { addressOf, defaultAddress, keyOf } from './client/connect.ts'
import { CommandFailed, endingOf, exitCodes, tellEnding } from './client/exit.ts'
import { askHidden, askLine } from './client/hidden-input.ts'
import { readServers, type Server, serversPath, writeServers } from './client/servers.ts'
import { type Command, readArguments, UsageError } from './command.ts'

export const login: Command = {
  name: 'login',
  summary: 'Sign in to a platform and keep a key for it.',
  usage: [
    'roost login [URL] [--name NAME] [--user NAME]',
    'roost login [URL] [--name NAME] --with-key',
    '',
    'URL            of the platform (http://localhost:8000)',
    '--name NAME    under which it is kept; several platforms can be (default)',
    '--user NAME    whose password is asked for (admin)',
    '--with-key     asks for an MCP key instead; for people who sign in another way',
    '',
    'The password or key is typed unseen, or read from what is piped in. A password is not kept: a key is made',
    'for this machine, which `roost logout` deletes. ROOST_URL and ROOST_KEY are used instead where they are set.',
  ],
  run: (args) => told(() => signIn(args)),
}

export const logout: Command = {
  name: 'logout',
  summary: 'Forget a platform and delete the key that was made for this machine.',
  usage: ['roost logout [NAME]'],
  run: (args) => told(() => signOut(args)),
}

export const servers: Command = {
  name: 'servers',
  summary: 'The platforms that you are signed in to; choose another one.',
  usage: [
    'roost servers [list]',
    'roost servers use NAME',
    '',
    '--json  the list as an array, without the keys',
  ],
  verbs: ['list', 'use'],
  run: (args) => told(() => listOrUse(args)),
}

async function signIn(args: string[]): Promise<void> {
  const { values, positionals } = readArguments({
    args,
    allowPositionals: true,
    options: { name: { type: 'string' }, user: { type: 'string' }, 'with-key': { type: 'boolean' } },
  })
  const url = readUrl(positionals)
  const name = values.name ?? 'default'
  const path = serversPath(process.env)
  // Before anything is asked: a file that cannot be read would be found out too late.
  const before = await readServers(path)
  const server = values['with-key'] ? await withKey(url) : await withPassword(url, values.user ?? 'admin')
  await writeServers(path, { current: name, servers: { ...before.servers, [name]: server } })
  const old = Object.hasOwn(before.servers, name) ? before.servers[name] : undefined
  // Nobody would use it any more, and no `roost logout` would find it.
  if (old && old.key_id !== null && old.key_id !== server.key_id) await deleteOwnKey(old, old.key_id)
  console.log(`Signed in to ${url}${name === 'default' ? '' : ` as ${name}`}.`)
}

function readUrl([text, ...more]: string[]): string {
  if (more.length > 0) throw new UsageError(`${JSON.stringify(more[0])} is not understood.`)
  return text === undefined ? defaultAddress : addressOf(text)
}

/** Before anybody types a password for nothing. */
async function requireSetUp(api: Client, url: string): Promise<void> {
  const { setup_completed } = await api.call(getSetupStatus, {})
  if (!setup_completed) throw new CommandFailed(`This platform is not set up yet: open ${url} in a browser.`)
}

async function withKey(url: string): Promise<Server> {
  const key = keyOf(await askHidden('Key: '))
  await createClient(url, key).call(validateKey, {})
  return { url, key, key_id: null }
}

async function withPassword(url: string, username: string): Promise<Server> {
  const api = createClient(url)
  await requireSetUp(api, url)
  const session = api.withToken(
    await sessionToken(api, username, await askHidden(`Password of ${username}: `)),
  )
  const name = `roost command line on ${hostname()}`.slice(0, 100)
  const { id, key } = await session.call(createKey, { body: { name } })
  await session.call(endSession, {})
  return { url, key, key_id: id }
}

async function sessionToken(api: Client, username: string, password: string): Promise<string> {
  try {
    return (await api.call(createToken, { body: { username, password } })).access_token
  } catch (error) {
    const challenge = error instanceof ApiError && error.body?.error === 'mfa_required' ? error.body : null
    if (!challenge || typeof challenge.challenge_token !== 'string') throw error
    if (challenge.mfa_enrolled === false) {
      throw new CommandFailed(
        'A second factor is required first: set it up in the browser.',
        exitCodes.denied,
      )
    }
    const code = await askLine('Code of your second factor: ')
    const body = { challenge_token: challenge.challenge_token, code }
    return (await api.call(verifyFactorLogin, { body })).access_token
  }
}

async function signOut(args: string[]): Promise<void> {
  const { positionals } = readArguments({ args, allowPositionals: true, options: {} })
  const path = serversPath(process.env)
  const { current, servers: known } = await readServers(path)
  const name = positionals[0] ?? current
  const server = name === null ? undefined : known[name]
  if (name === null || !server) throw new CommandFailed('Not signed in.', exitCodes.denied)
  const { [name]: _, ...rest } = known
  await writeServers(path, {
    current: current === name ? (Object.keys(rest)[0] ?? null) : current,
    servers: rest,
  })
  if (server.key_id !== null) await deleteOwnKey(server, server.key_id)
  console.log(`Signed out of ${server.url}.`)
}

/** Whatever the platform says, the key is gone from here; whether it is there still is told. */
async function deleteOwnKey({ url, key }: Server, id: string): Promise<void> {
  try {
    await createClient(url, key).call(deleteKey, { params: { id } })
  } catch (error) {
    const words = endingOf(error)?.message ?? String(error)
    console.error(
      `roost: the key could not be deleted (${words}). Delete it in the settings of the platform.`,
    )
  }
}

async function listOrUse(args: string[]): Promise<void> {
  const { positionals, values } = readArguments({
    args,
    allowPositionals: true,
    options: { json: { type: 'boolean' } },
  })
  const path = serversPath(process.env)
  const file = await readServers(path)
  const [word = 'list', name, ...more] = positionals
  if (more.length > 0) throw new UsageError(`${JSON.stringify(more[0])} is not understood.`)
  if (word === 'use') {
    if (name === undefined) throw new UsageError('NAME is missing.')
    if (!Object.hasOwn(file.servers, name))
      throw new CommandFailed(`There is no server ${JSON.stringify(name)}.`, exitCodes.notFound)
    return writeServers(path, { ...file, current: name })
  }
  if (word !== 'list' || name !== undefined)
    throw new UsageError(`${JSON.stringify(name ?? word)} is not understood.`)
  const known = Object.entries(file.servers).map(([each, { url }]) => ({
    name: each,
    url,
    current: each === file.current,
  }))
  if (values.json) return console.log(JSON.stringify(known, null, 2))
  const lines = known.map(({ name, url, current }) => `${current ? '*' : ' '} ${name}  ${url}`)
  console.log(lines.join('\n') || 'Not signed in anywhere. `roost login` does that.')
}

async function told(work: () => Promise<void>): Promise<number> {
  try {
    await work()
    return exitCodes.ok
  } catch (error) {
    const ending = endingOf(error)
    if (!ending) throw error
    return tellEnding(ending)
  }
}
