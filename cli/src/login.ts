import { hostname } from 'node:os'
import { ApiError, type Client, createClient } from '@roost/contracts/client'
import { createKey, deleteKey, validateKey } from '@roost/contracts/identity/keys'
import { verifyFactorLogin } from '@roost/contracts/identity/second-factor'
import { createToken, logout as endSession } from '@roost/contracts/identity/sessions'
import { getSetupStatus } from '@roost/contracts/identity/setup'
import { defaultAddress, parseAddress, parseKey } from './client/connect.ts'
import { CommandFailed, exitCodes, failureOf, reportFailure } from './client/exit.ts'
import { askHidden, askLine } from './client/hidden-input.ts'
import { readServers, type Server, serversPath, writeServers } from './client/servers.ts'
import { type Command, readArguments, UsageError } from './command.ts'

export const login: Command = {
  name: 'login',
  summary: 'Sign in to a platform and store a key for it.',
  usage: [
    'roost login [URL] [--name NAME] [--user NAME]',
    'roost login [URL] [--name NAME] --with-key',
    '',
    'URL            address of the platform (default http://localhost:8000)',
    '--name NAME    name to store it under, for several platforms (default "default")',
    '--user NAME    user to sign in as (default admin)',
    '--with-key     enter an MCP key instead of a password, for people who sign in another way',
    '',
    'The password or key is entered without echo, or read from standard input. The password is not stored: a key',
    'is created for this machine, and `roost logout` deletes it. ROOST_URL and ROOST_KEY take precedence if set.',
  ],
  run: (args) => exitCodeFor(() => signIn(args)),
}

export const logout: Command = {
  name: 'logout',
  summary: 'Forget a platform and delete the key created for this machine.',
  usage: ['roost logout [NAME]'],
  run: (args) => exitCodeFor(() => signOut(args)),
}

export const servers: Command = {
  name: 'servers',
  summary: 'List the platforms you are signed in to, or select one.',
  usage: [
    'roost servers [list]',
    'roost servers use NAME',
    '',
    '--json  print the list as a JSON array, without the keys',
  ],
  completions: ['list', 'use'],
  run: (args) => exitCodeFor(() => listOrUse(args)),
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
  // Read before any prompt, so that an unreadable file fails early.
  const serversFile = await readServers(path)
  const server = values['with-key']
    ? await signInWithKey(url)
    : await signInWithPassword(url, values.user ?? 'admin')
  await writeServers(path, { current: name, servers: { ...serversFile.servers, [name]: server } })
  const replaced = Object.hasOwn(serversFile.servers, name) ? serversFile.servers[name] : undefined
  // The replaced key would stay valid, and `roost logout` could no longer find it.
  if (replaced && replaced.key_id !== null && replaced.key_id !== server.key_id)
    await deleteOwnKey(replaced, replaced.key_id)
  console.log(`Signed in to ${url}${name === 'default' ? '' : ` (stored as "${name}")`}.`)
}

function readUrl([text, ...extra]: string[]): string {
  if (extra.length > 0) throw new UsageError(`Unexpected argument ${JSON.stringify(extra[0])}.`)
  return text === undefined ? defaultAddress : parseAddress(text)
}

/** Throws before the password prompt when the platform has no password yet. */
async function requireSetup(api: Client, url: string): Promise<void> {
  const { setup_completed } = await api.call(getSetupStatus, {})
  if (!setup_completed) throw new CommandFailed(`This platform is not set up yet. Open ${url} in a browser.`)
}

async function signInWithKey(url: string): Promise<Server> {
  const key = parseKey(await askHidden('MCP key: '))
  await createClient(url, key).call(validateKey, {})
  return { url, key, key_id: null }
}

async function signInWithPassword(url: string, username: string): Promise<Server> {
  const api = createClient(url)
  await requireSetup(api, url)
  const session = api.withToken(
    await sessionToken(api, username, await askHidden(`Password for ${username}: `)),
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
        'A second factor is required. Set it up in the web UI, then sign in again.',
        exitCodes.denied,
      )
    }
    const code = await askLine('Second-factor code: ')
    const body = { challenge_token: challenge.challenge_token, code }
    return (await api.call(verifyFactorLogin, { body })).access_token
  }
}

async function signOut(args: string[]): Promise<void> {
  const { positionals } = readArguments({ args, allowPositionals: true, options: {} })
  const path = serversPath(process.env)
  const { current, servers: stored } = await readServers(path)
  const name = positionals[0] ?? current
  const server = name === null ? undefined : stored[name]
  if (name === null || !server)
    throw new CommandFailed(
      'Not signed in to this platform. Run `roost servers` for the list.',
      exitCodes.denied,
    )
  const { [name]: _, ...rest } = stored
  await writeServers(path, {
    current: current === name ? (Object.keys(rest)[0] ?? null) : current,
    servers: rest,
  })
  if (server.key_id !== null) await deleteOwnKey(server, server.key_id)
  console.log(`Signed out of ${server.url}.`)
}

/** Deletes the key on the platform. A failure is only reported: the stored key is already removed here. */
async function deleteOwnKey({ url, key }: Server, id: string): Promise<void> {
  try {
    await createClient(url, key).call(deleteKey, { params: { id } })
  } catch (error) {
    const reason = failureOf(error)?.message ?? String(error)
    console.error(`roost: The key could not be deleted (${reason}). Delete it in the platform’s settings.`)
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
  const [verb = 'list', name, ...extra] = positionals
  if (extra.length > 0) throw new UsageError(`Unexpected argument ${JSON.stringify(extra[0])}.`)
  if (verb === 'use') {
    if (name === undefined) throw new UsageError('Missing argument NAME.')
    if (!Object.hasOwn(file.servers, name))
      throw new CommandFailed(
        `There is no server named ${JSON.stringify(name)}. Run \`roost servers\` for the list.`,
        exitCodes.notFound,
      )
    return writeServers(path, { ...file, current: name })
  }
  if (verb !== 'list' || name !== undefined)
    throw new UsageError(`Unexpected argument ${JSON.stringify(name ?? verb)}.`)
  const stored = Object.entries(file.servers).map(([each, { url }]) => ({
    name: each,
    url,
    current: each === file.current,
  }))
  if (values.json) return console.log(JSON.stringify(stored, null, 2))
  const lines = stored.map(({ name, url, current }) => `${current ? '*' : ' '} ${name}  ${url}`)
  console.log(lines.join('\n') || 'Not signed in to any platform. Run `roost login`.')
}

async function exitCodeFor(work: () => Promise<void>): Promise<number> {
  try {
    await work()
    return exitCodes.ok
  } catch (error) {
    const failure = failureOf(error)
    if (!failure) throw error
    return reportFailure(failure)
  }
}
