import { createReadStream, createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as WebStream } from 'node:stream/web'
import { errorOf } from '@roost/contracts/client'
import { bytesText } from '@roost/contracts/kit/bytes'
import { exportAgent, type ImportedAgent, importAgent } from '@roost/contracts/operations/agent-transfer'
import type { Subcommand } from './client/client-command.ts'
import { CommandFailed } from './client/exit.ts'
import { askHidden } from './client/hidden-input.ts'
import { plainText } from './client/output.ts'
import { UsageError } from './command.ts'
import { writeTarget } from './terminal/ask.ts'

const passphraseName = 'ROOST_EXPORT_PASSPHRASE'
const minPassphrase = 12
const ageHeader = 'age-encryption.org/v1'

export const exportCommand: Subcommand = {
  parameters: 'AGENT',
  summary: 'Export an agent with its workspace into one file.',
  options: {
    to: { type: 'string' },
    encrypt: { type: 'boolean' },
    'with-credentials': { type: 'boolean' },
    force: { type: 'boolean' },
  },
  optionLines: [
    '--to FILE        the file to write; required. --force replaces an existing one',
    `--encrypt        encrypt it with a passphrase (${passphraseName} or a prompt)`,
    '--with-credentials  include files with credentials; the file is then always encrypted',
  ],
  async run({ api, positionals: [name = ''], text, flag, print }) {
    const target = text('to')
    if (!target) throw new UsageError('Give --to FILE.')
    const file = resolve(process.cwd(), target)
    const credentials = flag('with-credentials')
    const isEncrypted = credentials || flag('encrypt') || Boolean(process.env[passphraseName])
    const passphrase = isEncrypted ? await passphraseFor('new') : null
    if ((await writeTarget(file, flag('force'))) === 'refused')
      throw new CommandFailed('Nothing was written.')
    const headers = passphraseHeader(passphrase)
    const response = await api.open(exportAgent, {
      params: { name },
      query: { credentials: String(credentials) as 'true' | 'false' },
      headers,
    })
    if (!response.ok) throw await errorOf(response)
    const bytes = await save(response, file)
    print({ agent: name, file, bytes, encrypted: isEncrypted, credentials }, () =>
      [
        `Exported ${name} to ${file} (${bytesText(bytes)}, ${isEncrypted ? 'encrypted' : 'not encrypted'}).`,
        credentials ? 'It contains credentials.' : 'It contains no files with credentials.',
      ].join('\n'),
    )
    return 0
  },
}

export const importCommand: Subcommand = {
  parameters: 'FILE',
  summary: 'Create an agent from an exported file.',
  waiting: 'Importing the agent',
  options: { as: { type: 'string' }, trust: { type: 'boolean' }, 'enable-schedules': { type: 'boolean' } },
  optionLines: [
    '--as NAME        the name of the new agent; default: the name in the file',
    '--trust          import files that runs obey, such as hooks, MCP servers, setup.sh and .env',
    '--enable-schedules  keep schedules enabled that were enabled; otherwise all are disabled',
  ],
  async run({ api, positionals: [given = ''], text, flag, print }) {
    const file = resolve(process.cwd(), given)
    const passphrase = (await isEncryptedFile(file)) ? await passphraseFor('existing') : null
    const body = Readable.toWeb(createReadStream(file, { highWaterMark: 256 * 1024 }))
    const query = {
      name: text('as'),
      trust: String(flag('trust')) as 'true' | 'false',
      enable_schedules: String(flag('enable-schedules')) as 'true' | 'false',
    }
    const imported = await api.call(importAgent, {
      query,
      body: body as ReadableStream<Uint8Array>,
      headers: passphraseHeader(passphrase),
    })
    print(imported, () => importText(imported, flag('enable-schedules')))
  },
}

/** Writes the whole response, or leaves no file. A broken connection ends with an error. */
async function save(response: Response, file: string): Promise<number> {
  if (!response.body) throw new CommandFailed('The response has no content.')
  const part = `${file}.part`
  await rm(part, { force: true })
  const output = createWriteStream(part, { flags: 'wx', mode: 0o600, flush: true })
  try {
    await pipeline(Readable.fromWeb(response.body as WebStream<Uint8Array>), output)
    await rename(part, file)
  } catch (error) {
    await rm(part, { force: true })
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandFailed(`The export broke off, and nothing was written: ${reason}.`)
  }
  return output.bytesWritten
}

async function isEncryptedFile(file: string): Promise<boolean> {
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read: ${error.code ?? error.message}.`)
  })
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(ageHeader.length), 0, ageHeader.length, 0)
    return buffer.toString('latin1', 0, bytesRead) === ageHeader
  } finally {
    await handle.close()
  }
}

async function passphraseFor(file: 'new' | 'existing'): Promise<string> {
  const given = process.env[passphraseName]
  if (given) return checked(given)
  if (!process.stdin.isTTY)
    throw new UsageError(`Set ${passphraseName}: there is no terminal to ask for the passphrase.`)
  const passphrase = checked(await askHidden('Passphrase of the file: '))
  if (file === 'new' && (await askHidden('Repeat it: ')) !== passphrase)
    throw new UsageError('The passphrases do not match.')
  return passphrase
}

function checked(passphrase: string): string {
  if (passphrase.length >= minPassphrase) return passphrase
  throw new UsageError(`The passphrase must have at least ${minPassphrase} characters.`)
}

function passphraseHeader(passphrase: string | null): Record<string, string> {
  return passphrase === null
    ? {}
    : { 'x-archive-passphrase': Buffer.from(passphrase, 'utf8').toString('base64') }
}

function importText(imported: ImportedAgent, isEnabling: boolean): string {
  const { name, status, files, schedules_created, untrusted_files, untrusted_files_count, warnings } =
    imported
  const more = untrusted_files_count - untrusted_files.length
  return [
    `${name} is ${status}. Imported ${files} files, folders and links.`,
    ...(schedules_created > 0
      ? [`Schedules: ${schedules_created}${isEnabling ? '' : ', all disabled'}.`]
      : []),
    ...(untrusted_files_count > 0
      ? [
          'Left out, because runs obey these files (import with --trust if you trust their author):',
          ...untrusted_files.map((path) => `  ${plainText(path)}`),
          ...(more > 0 ? [`  and ${more} more`] : []),
        ]
      : []),
    ...warnings,
  ].join('\n')
}
