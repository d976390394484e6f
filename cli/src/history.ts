import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as WebStream } from 'node:stream/web'
import {
  discardFormerWorkspace,
  type FormerList,
  listFormerWorkspaces,
  useFormerWorkspace,
} from '@roost/contracts/agents/former-workspaces'
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
  putHistorySettings,
} from '@roost/contracts/agents/workspace-history'
import { cancelRestore, listRestores } from '@roost/contracts/agents/workspace-restore'
import { errorOf } from '@roost/contracts/client'
import { changeLines } from './changes.ts'
import { type CommandContext, commandGroup } from './client/client-command.ts'
import { CommandFailed, exitCodes } from './client/exit.ts'
import { facts, plainText, table, time } from './client/output.ts'
import { saveFile } from './client/save-file.ts'
import { UsageError } from './command.ts'
import { consents, needsYes } from './terminal/ask.ts'
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
        await saved(context, await bodyOf(response), context.text('to') ?? '-')
        return 0
      },
    },
    archive: {
      parameters: 'AGENT RECORD [PATH]',
      summary: 'Save the workspace, or a folder of it, at a record as tar.gz.',
      options: toOption,
      optionLines: [recordLine, '--to FILE        default AGENT-NUMBER.tar.gz; - prints it'],
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
    former: {
      parameters: 'AGENT',
      summary: 'List the workspaces that an agent left on lost nodes.',
      async run({ api, positionals: [name = ''], print }) {
        const listed = await api.call(listFormerWorkspaces, { params: { name } })
        print(listed, () => formerText(listed))
      },
    },
    'use-former': {
      parameters: 'AGENT ID',
      summary: 'Let a stopped agent continue in a former workspace.',
      optionLines: [
        'ID: as `roost history former AGENT` shows it. The current workspace becomes a former one.',
      ],
      async run({ api, positionals: [name = '', workspace = ''], print }) {
        const listed = await api.call(useFormerWorkspace, { params: { name, workspace } })
        print(listed, () => `${name} has its former workspace. Start it: roost agents start ${name}`)
      },
    },
    'discard-former': {
      parameters: 'AGENT ID',
      summary: 'Delete a former workspace for good.',
      options: { yes: { type: 'boolean', short: 'y' } },
      optionLines: ['--yes            skip the confirmation; required without a terminal'],
      async run({ api, positionals: [name = '', workspace = ''], flag, print, spinner }) {
        needsYes(flag('yes'))
        spinner.hide()
        if (!(await consents(`Delete this former workspace of ${name} for good?`, flag('yes')))) return 1
        const listed = await api.call(discardFormerWorkspace, { params: { name, workspace } })
        print(listed, () => formerText(listed))
        return 0
      },
    },
    settings: {
      parameters: 'AGENT',
      summary: 'Show or change whether runs are recorded and undone, and what records leave out.',
      options: {
        recorded: { type: 'string' },
        'undo-failed': { type: 'string' },
        'start-from-record': { type: 'string' },
      },
      optionLines: [
        '--recorded on|off           whether runs are recorded',
        '--undo-failed on|off        whether failed runs of the owner are undone',
        '--start-from-record on|off  whether the agent continues from its latest record if its node is lost',
      ],
      async run(context) {
        const { api, print } = context
        const params = { name: context.positionals[0] ?? '' }
        const body = {
          enabled: onOrOff(context, 'recorded'),
          undo_failed: onOrOff(context, 'undo-failed'),
          start_from_record: onOrOff(context, 'start-from-record'),
        }
        const isChange = Object.values(body).some((value) => value !== undefined)
        const settings = isChange
          ? await api.call(putHistorySettings, { params, body })
          : await api.call(getHistorySettings, { params })
        print(settings, () =>
          facts({
            recorded: settings.enabled ? 'yes' : 'no',
            'failed runs': settings.undo_failed ? 'undone' : 'left as they are',
            ...(settings.can_lose_node
              ? { 'node lost': settings.start_from_record ? 'starts from the latest record' : 'waits' }
              : {}),
            'left out': settings.rules.patterns.join(', '),
            'largest file': `${settings.rules.max_file_bytes} bytes`,
            quota: settings.quota_bytes === null ? 'default' : `${settings.quota_bytes} bytes`,
          }),
        )
      },
    },
  },
)

/** Undefined when the option is absent. Throws `UsageError`. */
function onOrOff({ text }: CommandContext, option: string): boolean | undefined {
  const given = text(option)
  if (given === undefined || given === 'on' || given === 'off')
    return given === undefined ? undefined : given === 'on'
  throw new UsageError(`--${option} must be on or off, not ${JSON.stringify(given)}.`)
}

function formerText({ workspaces, filling }: FormerList): string {
  const rows = workspaces.map(({ id, left_at, available }) => [id, time(left_at), available ? 'yes' : 'no'])
  return [
    rows.length > 0 ? table(['id', 'left', 'available'], rows) : 'There is no former workspace.',
    ...(filling
      ? [`The present one is being filled from a record: ${filling.reason ?? filling.state}.`]
      : []),
  ].join('\n')
}

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

/** `-` prints it. */
async function saved({ print, spinner }: CommandContext, body: Readable, to: string): Promise<void> {
  if (to === '-') {
    spinner.hide()
    return pipeline(body, process.stdout, { end: false })
  }
  const bytes = await saveFile(body, to)
  print({ file: to, bytes }, () => `Saved ${to} (${bytes} bytes).`)
}
