import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as WebStream } from 'node:stream/web'
import {
  getHistoryRecord,
  getHistorySettings,
  getRecordArchive,
  getRecordChanges,
  getRecordFile,
  type HistoryRecord,
  listHistory,
  listRecordFiles,
  pinHistoryRecord,
} from '@roost/contracts/agents/workspace-history'
import { cancelRestore, listRestores } from '@roost/contracts/agents/workspace-restore'
import { errorOf } from '@roost/contracts/client'
import { changeLines } from './changes.ts'
import { type CommandContext, commandGroup } from './client/client-command.ts'
import { CommandFailed, exitCodes } from './client/exit.ts'
import { facts, plainText, table, time } from './client/output.ts'
import { saveFile } from './client/save-file.ts'
import { restoreOptionLines, restoreOptions, restoreWorkspace } from './undo.ts'

const recordLine = 'RECORD: the number or the id of a record, as `roost history AGENT` lists them.'
const toOption = { to: { type: 'string' } } as const

export const history = commandGroup(
  'history',
  "Records of an agent's workspace: list, read, download, restore, pin.",
  {
    list: {
      parameters: 'AGENT',
      summary: 'List the newest records of a workspace.',
      options: { limit: { type: 'string' } },
      optionLines: ['--limit N        default 50'],
      async run({ api, positionals: [name = ''], integer, print }) {
        const limit = String(integer('limit') ?? 50)
        const found = await api.call(listHistory, { params: { name }, query: { limit } })
        print(found, () =>
          table(
            ['record', 'created', 'reason', 'added', 'changed', 'deleted', 'pinned'],
            found.records.map((each) => [
              String(each.number),
              time(each.created_at),
              each.reason,
              ...[each.added, each.changed + each.renamed, each.deleted].map(String),
              each.pinned ? 'yes' : '',
            ]),
          ),
        )
      },
    },
    show: {
      parameters: 'AGENT RECORD',
      summary: 'Show a record and what it left out.',
      optionLines: [recordLine],
      async run(context) {
        const params = await recordOf(context)
        const record = await context.api.call(getHistoryRecord, { params })
        const { left_out, ...shown } = record
        context.print(record, () =>
          [
            facts({ ...shown, created_at: time(record.created_at) }),
            ...left_out.map(({ path, reason }) => `left out: ${plainText(path)} (${reason})`),
          ].join('\n'),
        )
      },
    },
    changes: {
      parameters: 'AGENT RECORD',
      summary: 'Show what differs from the record before it, or from another one.',
      options: { since: { type: 'string' } },
      optionLines: [recordLine, '--since RECORD   compare with this record'],
      async run(context) {
        const params = await recordOf(context)
        const given = context.text('since')
        const since = given === undefined ? undefined : (await findRecord(context, params.name, given)).record
        const found = await context.api.call(getRecordChanges, { params, query: { since, limit: '1000' } })
        context.print(found, () => changeLines(found))
      },
    },
    files: {
      parameters: 'AGENT RECORD [PATH]',
      summary: 'List a folder as it was at a record.',
      optionLines: [recordLine],
      async run(context) {
        const params = await recordOf(context)
        const path = context.positionals[2]
        const found = await context.api.call(listRecordFiles, { params, query: { path, limit: '1000' } })
        context.print(found, () =>
          table(
            ['mode', 'bytes', 'kind', 'path'],
            found.entries.map((each) => [each.mode, String(each.size), each.kind, each.path]),
          ),
        )
      },
    },
    get: {
      parameters: 'AGENT RECORD PATH',
      summary: 'Print or save a file as it was at a record.',
      options: toOption,
      optionLines: [recordLine, '--to FILE        save it there instead of printing it'],
      async run(context) {
        const params = await recordOf(context)
        const query = { path: context.positionals[2] ?? '' }
        const response = await context.api.open(getRecordFile, { params, query })
        const to = context.text('to')
        const body = await bodyOf(response)
        context.spinner.hide()
        if (to === undefined) await pipeline(body, process.stdout, { end: false })
        else await saved(context, body, to)
        return 0
      },
    },
    archive: {
      parameters: 'AGENT RECORD [PATH]',
      summary: 'Save the workspace, or a folder of it, at a record as tar.gz.',
      options: toOption,
      optionLines: [recordLine, '--to FILE        default AGENT-NUMBER.tar.gz'],
      waiting: 'Packing the files',
      async run(context) {
        const found = await findRecord(context)
        const { name, record } = found
        const path = context.positionals[2]
        const response = await context.api.open(getRecordArchive, {
          params: { name, record },
          query: { path },
        })
        await saved(context, await bodyOf(response), context.text('to') ?? `${name}-${found.number}.tar.gz`)
      },
    },
    restore: {
      parameters: 'AGENT RECORD [PATH]',
      summary: 'Restore the workspace, a folder or a file to a record.',
      waiting: 'Restoring the workspace',
      options: restoreOptions,
      optionLines: [recordLine, ...restoreOptionLines],
      async run(context) {
        const { name, record } = await recordOf(context)
        return restoreWorkspace(context, name, { record, path: context.positionals[2] })
      },
    },
    cancel: {
      parameters: 'AGENT',
      summary: 'Cancel the restore that waits for running runs.',
      async run({ api, positionals: [name = ''], print }) {
        const { restores } = await api.call(listRestores, { params: { name } })
        const restore = restores.find(({ ended_at }) => ended_at === null)
        if (!restore) throw new CommandFailed(`No restore of ${name} is waiting.`, exitCodes.notFound)
        const cancelled = await api.call(cancelRestore, { params: { name, restore: restore.id } })
        print(cancelled, () => `The restore of ${name} is cancelled.`)
      },
    },
    pin: pinning(true, 'Keep a record until it is unpinned.'),
    unpin: pinning(false, 'Let retention remove a record again.'),
    settings: {
      parameters: 'AGENT',
      summary: 'Show whether runs are recorded, and what records leave out.',
      async run({ api, positionals: [name = ''], print }) {
        const settings = await api.call(getHistorySettings, { params: { name } })
        print(settings, () =>
          facts({
            recorded: settings.enabled ? 'yes' : 'no',
            'left out': settings.rules.patterns.join(', '),
            'largest file': `${settings.rules.max_file_bytes} bytes`,
            quota: settings.quota_bytes === null ? 'default' : `${settings.quota_bytes} bytes`,
          }),
        )
      },
    },
  },
)

function pinning(pinned: boolean, summary: string) {
  return {
    parameters: 'AGENT RECORD',
    summary,
    optionLines: [recordLine],
    async run(context: CommandContext): Promise<undefined> {
      const params = await recordOf(context)
      const record = await context.api.call(pinHistoryRecord, { params, body: { pinned } })
      context.print(record, () => `Record ${record.number} is ${record.pinned ? 'pinned' : 'not pinned'}.`)
    },
  }
}

async function recordOf(context: CommandContext): Promise<{ name: string; record: string }> {
  const { name, record } = await findRecord(context)
  return { name, record }
}

/** Finds a record by its number or id. Throws `CommandFailed`. */
export async function findRecord(
  { api, positionals }: Pick<CommandContext, 'api' | 'positionals'>,
  name = positionals[0] ?? '',
  given = positionals[1] ?? '',
): Promise<{ name: string; record: string; number: number }> {
  const found = /^\d{1,9}$/.test(given)
    ? await recordByNumber(api, name, Number(given))
    : await api.call(getHistoryRecord, { params: { name, record: given } })
  if (found) return { name, record: found.id, number: found.number }
  throw new CommandFailed(`${name} has no record ${given}.`, exitCodes.notFound)
}

async function recordByNumber(
  api: CommandContext['api'],
  name: string,
  number: number,
): Promise<HistoryRecord | undefined> {
  const query = { before: String(number + 1), limit: '1' }
  const { records } = await api.call(listHistory, { params: { name }, query })
  return records.find((each) => each.number === number)
}

async function bodyOf(response: Response): Promise<Readable> {
  if (!response.ok || !response.body) throw await errorOf(response)
  return Readable.fromWeb(response.body as WebStream<Uint8Array>)
}

async function saved({ print }: CommandContext, body: Readable, to: string): Promise<void> {
  const bytes = await saveFile(body, to)
  print({ file: to, bytes }, () => `Saved ${to} (${bytes} bytes).`)
}
